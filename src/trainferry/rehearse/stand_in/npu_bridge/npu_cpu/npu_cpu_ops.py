"""Stands in for operators that run on the CPU cores of the NPU; most of them raise."""

import tensorflow as tf

from trainferry_stand_in.calls import marked
from trainferry_stand_in.errors import only_on_device
from trainferry_stand_in.warp import warp

_TABLE = "it is part of an embedding table in the memory of the device"
_TEXT = "it is an operator for text in pictures"
_PICTURE = "it is an operator for pictures"


def embedding_hashtable_lookup_or_insert(
    table_handle,
    keys,
    bucket_size,
    embedding_dim,
    filter_mode,
    filter_freq,
    default_key_or_value,
    default_key,
    default_value,
    filter_key_flag,
    filter_key,
):
    only_on_device("embedding_hashtable_lookup_or_insert", _TABLE)


def embeddingrankid(addr_tensor, index, row_memory=320, mode="mod"):
    only_on_device("embeddingrankid", _TABLE)


def embedding_local_index(addr_tensor, index, row_memory=320, mode="mod"):
    only_on_device("embedding_local_index", _TABLE)


def randomchoicewithmask(x, count, seed=0, seed2=0):
    """The places of `count` true values of `x`, drawn at random, and which of them are real."""
    with marked("RandomChoiceWithMask"):
        found = tf.random.shuffle(tf.where(x), seed=seed or seed2 or None)
        taken = found[:count]
        real = tf.shape(taken)[0]
        filled = tf.pad(taken, [[0, count - real], [0, 0]])
        places = tf.ensure_shape(tf.cast(filled, tf.int32), [count, x.shape.ndims])
        return places, tf.range(count) < real


def dense_image_warp(image, flow, name=None):
    """Each pixel taken from where `flow` points back to, bilinearly."""
    with tf.name_scope(name, "DenseImageWarp"), marked("DenseImageWarp"):
        return warp(tf.convert_to_tensor(image), tf.convert_to_tensor(flow))


def stateless_dropout(x, noise_shape, p, seed, offset):
    only_on_device("stateless_dropout", "it draws the random numbers of the device")


def batch_enqueue(
    x,
    queue_id=0,
    batch_size=8,
    queue_name="",
    queue_depth=100,
    pad_mode="REPLICATE",
):
    only_on_device("batch_enqueue", "it collects pictures in a queue of the device")


def ocr_recognition_pre_handle(
    imgs_data,
    imgs_offset,
    imgs_size,
    langs,
    langs_score,
    batch_size=8,
    data_format="NHWC",
    pad_mode="REPLICATE",
):
    only_on_device("ocr_recognition_pre_handle", _TEXT)


def ocr_detection_pre_handle(img, data_format="NHWC"):
    only_on_device("ocr_detection_pre_handle", _TEXT)


def ocr_identify_pre_handle(imgs_data, imgs_offset, imgs_size, size, data_format="NHWC"):
    only_on_device("ocr_identify_pre_handle", _TEXT)


def batch_dilate_polys(
    polys_data,
    polys_offset,
    polys_size,
    score,
    min_border,
    min_area_thr,
    score_thr,
    expand_scale,
):
    only_on_device("batch_dilate_polys", _TEXT)


def ocr_find_contours(img, value_mode=0):
    only_on_device("ocr_find_contours", _TEXT)


def dequeue(queue_id, output_type, output_shape, queue_name=""):
    only_on_device("dequeue", "it reads a queue of the device")


def ocr_detection_post_handle(img, polys_data, polys_offset, polys_size, data_format="NHWC"):
    only_on_device("ocr_detection_post_handle", _TEXT)


def warp_affine_v2(
    x,
    matrix,
    dst_size,
    interploation="INTEL_BILINEAR",
    border_type="BORDER_CONSTANT",
    border_value=0,
):
    only_on_device("warp_affine_v2", _PICTURE)


def resize_v2(x, dst_size, interploation="INTEL_BILINEAR"):
    only_on_device("resize_v2", _PICTURE)


def resize_and_clip_polys(polys_data, polys_offset, polys_size, h_scale, w_scale, img_h, img_w):
    only_on_device("resize_and_clip_polys", _PICTURE)


def non_zero_with_value_shape(value, index, count):
    only_on_device(
        "non_zero_with_value_shape", "it gives numbers and places in buffers of fixed size"
    )


def non_zero_with_value_shape_v2(value, index, count):
    only_on_device(
        "non_zero_with_value_shape_v2", "it gives numbers and places in buffers of fixed size"
    )


def host_feature_mapping(feature_id, threshold=1, table_name="default_table_name"):
    only_on_device("host_feature_mapping", _TABLE)


def device_feature_mapping(feature_id):
    only_on_device("device_feature_mapping", _TABLE)


def init_embedding_hashmap_v2(table_id, bucket_size, load_factor, embedding_dim, dtype):
    only_on_device("init_embedding_hashmap_v2", _TABLE)


def deinit_embedding_hashmap_v2(table_id):
    only_on_device("deinit_embedding_hashmap_v2", _TABLE)


def table_to_resource_v2(table_id, bucket_size, load_factor, embedding_dim, dtype):
    only_on_device("table_to_resource_v2", _TABLE)


def embedding_hashmap_table_size_v2(table_ids, filter_export_flag, export_mode):
    only_on_device("embedding_hashmap_table_size_v2", _TABLE)


def embedding_hashmap_export_v2(
    file_path,
    table_ids,
    table_names,
    global_step,
    keys,
    counters,
    filter_flag,
    values,
    num,
):
    only_on_device("embedding_hashmap_export_v2", _TABLE)


def embedding_hashmap_file_size_v2(file_path, table_ids, table_names, global_step, embedding_dims):
    only_on_device("embedding_hashmap_file_size_v2", _TABLE)


def embedding_hashmap_import_v2(
    file_path,
    table_ids,
    table_sizes,
    table_names,
    global_step,
    embedding_dims,
    num,
):
    only_on_device("embedding_hashmap_import_v2", _TABLE)


def init_embedding_hashtable(
    table_handle,
    sampled_values,
    bucket_size,
    embedding_dim,
    initializer_mode,
    constant_value,
):
    only_on_device("init_embedding_hashtable", _TABLE)


def embedding_hash_table_import(
    table_handles,
    embedding_dims,
    bucket_sizes,
    keys,
    counters,
    filter_flags,
    values,
):
    only_on_device("embedding_hash_table_import", _TABLE)


def stateless_random_choice_with_mask(x, count, seed, offset):
    only_on_device(
        "stateless_random_choice_with_mask", "it is an operator for the CPU cores of the device"
    )


def embedding_hash_table_export(
    table_handles,
    table_sizes,
    embedding_dims,
    bucket_sizes,
    export_mode="all",
    filter_export_flag=False,
):
    only_on_device("embedding_hash_table_export", _TABLE)


def embedding_hashtable_apply_adam_w(
    table_handle,
    keys,
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    weight_decay,
    beta1,
    beta2,
    epsilon,
    grad,
    max_grad_norm,
    embedding_dim,
    bucket_size,
    amsgrad,
    maximize,
):
    only_on_device("embedding_hashtable_apply_adam_w", _TABLE)
