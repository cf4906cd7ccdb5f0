"""Stands in for the decoder hardware of the NPU, which a rehearsal does not have."""

from trainferry_stand_in.errors import only_on_device


def decode_and_resize_jpeg(image, size):
    only_on_device("decode_and_resize_jpeg", "its hardware decodes and resizes pictures")


def decode_and_crop_and_resize_jpeg(image, crop_size, size):
    only_on_device(
        "decode_and_crop_and_resize_jpeg", "its hardware decodes, cuts and resizes pictures"
    )
