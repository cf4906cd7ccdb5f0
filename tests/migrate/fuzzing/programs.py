"""Generates programs of the kind that the rules look at, in every spelling.

All of it is drawn from a `random.Random`, so that a seed, or hypothesis, decides everything.
"""

from __future__ import annotations

from random import Random

TENSORFLOW = (
    "import tensorflow as tf",
    "import tensorflow as tf",
    "import tensorflow.compat.v1 as tf",
    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()",
    "from tensorflow.compat import v1 as tf",
    "import tensorflow\ntf = tensorflow",
    "import tensorflow\ntf = tensorflow.compat.v1",
    "import tensorflow as tensor; tf = tensor",
    "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
    "try: import tensorflow as tf\nexcept ImportError: tf = None",
    "import importlib\ntf = importlib.import_module('tensorflow')",
    "tf = __import__('tensorflow')",
    "if True: import tensorflow as tf",
    "import os, tensorflow as tf, sys",
    "import os; import tensorflow as tf; import sys",
    "import tensorflow as \\\n    tf",
    "from tensorflow import *\nimport tensorflow as tf",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tensorflow as tf\n"
    "import tensorflow as tf",
    "import tensorflow as tf  # noqa",
)

OTHERS = (
    "import os",
    "import sys, os",
    "import numpy as np",
    "import horovod.tensorflow as hvd",
    "import horovod.tensorflow as hvd\nhvd.init()",
    "from horovod import tensorflow as hvd",
    "import horovod.tensorflow.keras as hvd",
    "import horovod.keras as hvd",
    "from horovod.tensorflow import init, rank as who, DistributedOptimizer as Opt",
    "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None",
    "import horovod.tensorflow\nhvd = horovod.tensorflow",
    "import keras",
    "import keras.backend as K",
    "from keras import backend as K, layers",
    "from keras.layers.core import Dense, Dropout",
    "from keras.models import *",
    "from tensorflow.keras import backend as K, layers",
    "from tensorflow.python.keras import backend as K",
    "from tensorflow.contrib import slim",
    "import tensorflow.contrib.slim as slim",
    "slim = tf.contrib.slim",
    "K = tf.keras.backend",
    "nn, layers = tf.nn, tf.layers",
    "from tensorflow import Session, ConfigProto as Proto",
    "from tensorflow.contrib.learn import *",
    "from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2",
    "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig",
    "from tensorflow.python.client import device_lib",
    "from tensorflow.python.client import session as sess_lib",
    "from npu_bridge.npu_init import *",
    "from npu_bridge.estimator import npu_ops",
    "from npu_bridge.npu_init import NPURunConfig, NPUEstimator",
    "import npu_bridge",
    "npu_ops = 1",
    "from absl import app, flags",
    "import functools, multiprocessing",
    "import atexit",
    "import requests",
    "import tf_slim as slim",
    "import tensorflow.estimator as est",
    "from tensorflow import estimator",
    "FLAGS = tf.app.flags.FLAGS",
    "tf.app.flags.DEFINE_integer('num_gpus', 1, 'number')",
)

# `@` stands for any expression, `$` for any name.
STATEMENTS = (
    "sess = tf.Session()",
    "sess = tf.Session(config=@)",
    "sess = tf.Session('', None, None)",
    "sess = tf.InteractiveSession(graph=@)",
    "self.sess = tf.Session(config=config)",
    "with tf.Session() as sess: sess.run(@)",
    "with tf.Session(graph=tf.Graph(), config=config) as sess, tf.device('/gpu:0'):\n    $ = @",
    "with tf.train.MonitoredTrainingSession(hooks=[@], config=config) as sess:\n"
    "    while not sess.should_stop():\n        sess.run(@)",
    "with tf.train.MonitoredTrainingSession() as sess: pass",
    "sv = tf.train.Supervisor(logdir=@)",
    "with sv.managed_session(config=@) as sess:\n    sess.run(train_op)",
    "sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())",
    "sess = tf.train.SessionManager().prepare_session('', init_op=@)",
    "sess.run(tf.global_variables_initializer())",
    "sess.run([tf.global_variables_initializer(), iterator.initializer])",
    "sess.run([d_train, g_train], feed_dict={x: @})",
    "sess.close()",
    "config = tf.ConfigProto()",
    "config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions("
    "per_process_gpu_memory_fraction=0.5))",
    "config = tf.ConfigProto(log_device_placement=False, device_count={'GPU': 0})",
    "config.gpu_options.allow_growth = True",
    "config.gpu_options.visible_device_list = str(hvd.local_rank())",
    "config.gpu_options.visible_device_list, $ = '0', @",
    "config.allow_soft_placement = config.log_device_placement = False",
    "config.graph_options.rewrite_options.constant_folding = RewriterConfig.OFF",
    "config.graph_options.rewrite_options.auto_mixed_precision = 1",
    "config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1",
    "config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options="
    "tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)))",
    "custom_op = config.graph_options.rewrite_options.custom_optimizers.add()",
    "custom_op.name = 'NpuOptimizer'",
    "custom_op.parameter_map['precision_mode'].s = tf.compat.as_bytes('allow_mix_precision')",
    "custom_op.parameter_map['use_off_line'].b = True",
    "custom_op.parameter_map['mix_compile_mode'].b = @",
    "custom_op.parameter_map['precision_mode'].b = True",
    "config = npu_config_proto(config_proto=config)",
    "os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'",
    "os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
    "os.environ.setdefault('TF_XLA_FLAGS', '--tf_xla_auto_jit=2')",
    "os.environ.update({'CUDA_VISIBLE_DEVICES': @})",
    "with tf.device('/gpu:0'): $ = @",
    "with tf.device('/gpu:%d' % i):\n    $ = @",
    "with tf.device(tf.train.replica_device_setter(cluster=@)):\n    $ = @",
    "with tf.device(assign_to_device('/gpu:{}'.format(i), '/cpu:0')), tf.name_scope('t'):\n    "
    "$ = @",
    "for i in range(FLAGS.num_gpus):\n    with tf.device('/gpu:%d' % i):\n"
    "        with tf.name_scope('tower_%d' % i):\n            grads = opt.compute_gradients(loss)\n"
    "            tower_grads.append(grads)",
    "train_op = opt.apply_gradients(average_gradients(tower_grads), global_step=global_step)",
    "$ = tf.nn.dropout(@, 0.5)",
    "$ = tf.nn.dropout(@, rate=1 - @)",
    "$ = tf.nn.dropout(x=@, keep_prob=@, noise_shape=None)",
    "$ = tf.layers.dropout(@, rate=0.1, training=True)",
    "$ = tf.keras.layers.Dropout(0.5)(@)",
    "$ = tf.layers.max_pooling2d(@, 3, 2, padding='same')",
    "$ = tf.nn.max_pool(@, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
    "$ = slim.max_pool2d(@, [2, 2], scope='pool')",
    "$ = tf.nn.ctc_loss(labels, logits, lengths)",
    "$ = tf.nn.ctc_loss(labels=@, inputs=@, sequence_length=@)",
    "decoded, _ = tf.nn.ctc_beam_search_decoder(@, @)",
    "$ = tf.keras.layers.CuDNNLSTM(128, return_sequences=True)(@)",
    "$ = tf.contrib.cudnn_rnn.CudnnLSTM(1, 128)",
    "cell = tf.nn.rnn_cell.LSTMCell(256)",
    "cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(n) for n in (64, 64)])",
    "outputs, state = tf.nn.dynamic_rnn(cell, @, dtype=tf.float32)",
    "outputs, _ = tf.nn.bidirectional_dynamic_rnn(cell, cell, @, dtype=tf.float32)",
    "def gelu(x):\n    cdf = 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * "
    "tf.pow(x, 3))))\n"
    "    return x * cdf",
    "def gelu(x): return x * 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))",
    "finite = tf.reduce_all(tf.is_finite(@))",
    "$ = tf.is_nan(@) | tf.debugging.is_inf(@)",
    "$ = tf.cast(@, tf.float64)",
    "$ = tf.to_double(@); $ = tf.complex(@, @)",
    "$ = @ / (@ + 1e-8)",
    "$ = tf.log(@ + 1e-10)",
    "phase = tf.constant('train', dtype=tf.string)",
    "is_training = tf.equal(phase, tf.constant('train', dtype=tf.string))",
    "$ = tf.cond(@, lambda: @, lambda: @)",
    "$ = tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [@])",
    "$ = tf.py_func(lambda v: v, [@], tf.float32)",
    "$ = tf.Print(@, [@], 'x')",
    "$ = tf.print(@, output_stream=sys.stderr)",
    "tf.summary.scalar('loss', loss)",
    "$ = tf.sparse_placeholder(tf.int32)",
    "$ = tf.sparse.to_dense(@)",
    "$ = tf.placeholder(tf.int64, shape=[None, 3])",
    "table = tf.contrib.lookup.HashTable(@, -1)",
    "tf.enable_eager_execution()",
    "tf.compat.v1.enable_eager_execution()",
    "with tf.GradientTape() as tape: $ = @",
    "@tf.function\ndef step(x):\n    return @",
    "tf.config.experimental.set_memory_growth(gpus[0], True)",
    "tf.config.optimizer.set_jit(True)",
    "tf.config.optimizer.set_experimental_options({'auto_mixed_precision': True})",
    "tf.config.set_soft_device_placement(False)",
    "if tf.test.is_gpu_available(): $ = @",
    "data_format = 'channels_first' if tf.test.is_built_with_cuda() else 'channels_last'",
    "ds = tf.data.Dataset.from_tensor_slices(@)",
    "ds = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4).batch(32)",
    "ds = ds.batch(32)",
    "ds = ds.batch(batch_size=FLAGS.batch_size, drop_remainder=False)",
    "ds = (ds\n      .shuffle(1000)  # shuffled\n      .repeat()\n\n      .batch(  # rows\n"
    "          32,\n      )\n      .prefetch(1))",
    "ds = ds.shuffle(10).repeat(@) \\\n    .padded_batch(8, ([None], [])) \\\n    .prefetch(1)",
    "ds = ds.apply(tf.data.experimental.map_and_batch(parse, 32, num_parallel_batches=2))",
    "ds = ds.apply(tf.contrib.data.batch_and_drop_remainder(32))",
    "ds = ds.apply(tf.contrib.data.padded_batch_and_drop_remainder(32, ([None],)))",
    "ds = ds.apply(tf.data.experimental.bucket_by_sequence_length(len, [8], [4, 2]))",
    "ds = ds.shard(hvd.size(), hvd.rank())",
    "ds = ds.shard(FLAGS.num_workers, FLAGS.worker_index).batch(4)",
    "ds = getattr(ds, 'batch')(32)",
    "ds = ds.filter(lambda *a: @).window(5).flat_map(lambda w: w.batch(5))",
    "iterator = ds.make_one_shot_iterator()",
    "iterator = tf.data.make_initializable_iterator(ds)",
    "images, labels = ds.make_one_shot_iterator().get_next()",
    "queue = tf.train.string_input_producer(files, num_epochs=1)",
    "key, value = tf.TFRecordReader().read(queue)",
    "images, labels = tf.train.shuffle_batch([@, @], 32, 2000, 1000)",
    "images = tf.train.batch([@], batch_size=32, allow_smaller_final_batch=True)",
    "q = tf.FIFOQueue(100, [tf.float32]); $ = q.dequeue_many(32)",
    "coord = tf.train.Coordinator(); threads = tf.train.start_queue_runners(sess=sess, "
    "coord=coord)",
    "opt = tf.train.AdamOptimizer(0.01)",
    "opt = tf.train.MomentumOptimizer(learning_rate=@, momentum=0.9)",
    "opt = tf.train.AdamOptimizer(learning_rate=0.01 * hvd.size())",
    "opt = hvd.DistributedOptimizer(opt)",
    "opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(@), compression=hvd.Compression.fp16)",
    "opt = tf.contrib.opt.LARSOptimizer(0.1)",
    "opt = tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate=4)",
    "opt = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)",
    "opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, tf.train.experimental."
    "DynamicLossScale())",
    "manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(2**15, 1000)",
    "manager = tf.contrib.mixed_precision.FixedLossScaleManager(128)",
    "opt = tf.contrib.mixed_precision.LossScaleOptimizer(opt, manager)",
    "opt = npu_distributed_optimizer_wrapper(npu_distributed_optimizer_wrapper(opt))",
    "opt = NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=128))",
    "grads = opt.compute_gradients(loss * loss_scale)",
    "grads = [(g / loss_scale, v) for g, v in grads]",
    "grads = tf.gradients(loss * 128., tf.trainable_variables()); grads = [g / 128. for g in "
    "grads]",
    "train_op = opt.minimize(loss, global_step=tf.train.get_global_step())",
    "train_op = tf.train.AdamOptimizer(@).minimize(@)",
    "train_op = tf.group(opt.apply_gradients(zip(grads, tvars)), [global_step.assign_add(1)])",
    "train_op = tf.contrib.layers.optimize_loss(loss, None, 0.1, 'Adam')",
    "hvd.init()",
    "hvd.broadcast_global_variables(0)",
    "sess.run(hvd.broadcast_global_variables(0))",
    "hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=1000 // "
    "hvd.size())]",
    "hooks.append(tf.train.ProfilerHook(save_steps=100))",
    "checkpoint_dir = './checkpoints' if hvd.rank() == 0 else None",
    "if hvd.rank() == 0: tf.summary.scalar('loss', loss)",
    "$ = hvd.allreduce(@, average=False)",
    "$ = hvd.allgather(@)",
    "$ = hvd.mpi_threads_supported()",
    "init(); $ = who()",
    "strategy = tf.distribute.MirroredStrategy(devices=['/gpu:0', '/gpu:1'])",
    "strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
    "strategy = tf.distribute.experimental.ParameterServerStrategy()",
    "with tf.distribute.MirroredStrategy().scope(): model.compile('adam', loss='mse')",
    "with strategy.scope():\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])",
    "run_config = tf.estimator.RunConfig(model_dir=@, session_config=config)",
    "run_config = tf.estimator.RunConfig(\n    model_dir='x',  # where\n    "
    "save_checkpoints_steps=10,\n"
    "    train_distribute=strategy,\n)",
    "run_config = run_config.replace(session_config=config)",
    "run_config = NPURunConfig(model_dir=@, save_checkpoints_steps=10 if rank == 0 else None)",
    "estimator = tf.estimator.Estimator(model_fn, FLAGS.model_dir, run_config, params)",
    "estimator = tf.estimator.Estimator(model_fn=model_fn, config=tf.estimator.RunConfig(@))",
    "estimator = tf.estimator.Estimator(model_fn=model_fn)",
    "estimator = tf.estimator.DNNClassifier([10], columns, config=run_config)",
    "estimator = tf.contrib.learn.Estimator(model_fn)",
    "estimator = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, config=run_config, use_tpu=True)",
    "run_config = tf.contrib.tpu.RunConfig(cluster=@, tpu_config=tf.contrib.tpu.TPUConfig(100))",
    "estimator.train(input_fn=lambda: @, steps=10, hooks=[@])",
    "estimator.evaluate(eval_input)",
    "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(train_input), "
    "tf.estimator.EvalSpec(eval_input))",
    "def model_fn(features, labels, mode, params):\n    $ = @\n    if mode == "
    "tf.estimator.ModeKeys."
    "PREDICT:\n        return tf.estimator.EstimatorSpec(mode, predictions=@)\n"
    "    return tf.estimator.EstimatorSpec(mode=mode, loss=@, train_op=@)",
    "def train_input():\n    ds = tf.data.TFRecordDataset(files).repeat()\n    return ds.batch(8)",
    "def eval_input(): return tf.data.TFRecordDataset(files).batch(8)",
    "model = tf.keras.models.Sequential()",
    "model = keras.models.Model(inputs=@, outputs=@)",
    "model.compile('adam', loss='mse')",
    "model.compile(optimizer=tf.keras.optimizers.Adam(@), loss='mse', metrics=['accuracy'])",
    "model.compile(optimizer=hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)))",
    "model.fit(x, y, epochs=5, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])",
    "model.fit(data)",
    "model.fit_generator(@, steps_per_epoch=@, workers=4, use_multiprocessing=True)",
    "model = tf.keras.utils.multi_gpu_model(model, gpus=2)",
    "est = tf.keras.estimator.model_to_estimator(model, config=run_config)",
    "K.set_session(tf.Session(config=config))",
    "K.clear_session()",
    "tf.keras.backend.set_session(tf.Session())",
    "mask = K.zeros((10,))",
    "server = tf.train.Server(cluster, job_name='worker', task_index=0)",
    "logits = slim.learning.train(train_op, logdir=@, number_of_steps=@)",
    "with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm): $ = slim.conv2d(@, 8, 3)",
    "pool = multiprocessing.Pool(4)",
    "devices = [d.name for d in device_lib.list_local_devices() if d.device_type == 'GPU']",
    "np.save('x', sess.run(@))",
    "requests.Session(config=npu_config_proto())",
    "shutdown_resource(npu_session, npu_shutdown); close_session(npu_session)",
    "npu_session, npu_shutdown = init_resource()",
    "saver = tf.train.Saver(); saver.restore(sess, @)",
    "tf.saved_model.simple_save(sess, @, {}, {})",
    "tf.import_graph_def(@, name='')",
    "del sess",
    "global_step = tf.train.get_or_create_global_step()",
    "loss = tf.losses.softmax_cross_entropy(@, @)",
    "accuracy = tf.metrics.accuracy(@, @)",
    "$: tf.Tensor = @",
    "$ += @",
    "x = y = @",
    "assert @, @",
    "pass",
    "'''a text'''",
    "# a comment",
    "$ = [tf.nn.dropout(v, 0.5) for v in @ if tf.is_finite(v)]",
    "$ = {k: tf.nn.dropout(v, rate=.5) for k, v in @.items()}",
    "$ = lambda *a, **k: tf.Session(*a, **k)",
    "$ = getattr(tf, 'Session')()",
    "$ = f'{tf.Session()!r:>{10}} {@}'",
    "$ = tf.Session if @ else None",
    "make = functools.partial(tf.Session, config=@)",
    "class Trainer(object):\n    session = tf.Session()\n    def __init__(self, "
    "opt=tf.train.AdamOptimizer"
    "(1e-3)):\n        self.sess = tf.Session(); self.opt = opt\n    def close(self): "
    "self.sess.close()",
    "class MySession(tf.Session): pass",
    "def main(_):\n    $ = @\n    with tf.Session() as sess: sess.run($)",
    "if __name__ == '__main__':\n    tf.app.run()",
    "if __name__ == '__main__': tf.app.run(main=main)",
    "if __name__ == '__main__':\n    app.run(main)",
    "if __name__ == '__main__':\n    main(sys.argv)",
)

EXPRESSIONS = (
    "x", "y", "None", "0.5", "1e-8", "128", "'train'", "net", "loss", "config", "ds", "sess",
    "[]", "[1, 2]", "(x, y)", "{}", "FLAGS.batch_size", "self.net", "x[0]", "x[:, 1]", "-x",
    "not x",
    "x if y else @", "@ + @", "@ * 2", "(@)", "( # why\n    @)", "[@ for v in x]", "{@: @}",
    "lambda: @", "lambda v, *w: @", "f(@)", "f(@, *args)", "f(*args, **options)",
    "f(a=@, **options)",
    "f(\n    @,\n    b=@,  # note\n)", "f(@)(@)", "x.shape", "await_(@)", "(@ for v in x)",
    "f(v for v in x)",
    "tf.nn.dropout(@, 0.5)", "tf.nn.dropout(@, rate=@)", "tf.nn.relu(@)", "tf.Session()",
    "tf.Session(config=@)", "tf.ConfigProto(allow_soft_placement=@)", "tf.train.AdamOptimizer(@)",
    "hvd.rank()", "hvd.size()", "hvd.local_rank() == 0", "hvd.DistributedOptimizer(@)",
    "hvd.allreduce(@)", "tf.data.Dataset.range(10).batch(@)", "ds.batch(4).repeat()",
    "tf.data.TFRecordDataset(@).map(lambda v: @).batch(8, @)", "tf.float64", "np.float64(@)",
    "tf.is_finite(@)", "tf.constant(@, tf.double)", "tf.layers.dense(@, 10)", "K.zeros((1,))",
    "tf.estimator.RunConfig()", "tf.estimator.RunConfig(session_config=@)",
    "tf.test.is_gpu_available()",
    "tf.train.StopAtStepHook(@)", "tf.reduce_mean(@)", "tf.gradients(@, @)", "K.get_session()",
    "tf.keras.layers.Dropout(@)(@)", "npu_ops.dropout(@, 0.5)", "npu_config_proto(config_proto=@)",
    "get_npu_rank_size()", "tf.contrib.layers.dropout(@)", "'é' + @", "'''\nlong\n'''", "b'\\xff'",
    "tf.layers.max_pooling2d(@, 2, 2)", "tf.nn.max_pool(@, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
    "tf.keras.layers.Dense(1)(@)", "model", "tf.compat.v1.Session()", "tf.app.flags.FLAGS.x",
)  # fmt: skip

NAMES = (
    "x", "y", "net", "loss", "ds", "opt", "sess", "config", "_", "npu_ops", "tf", "hvd", "atexit",
    "été", "变量", "self.x", "x[0]", "x, y", "(x, y)", "*x, y", "npu_config_proto", "init_resource",
    "global_step", "keras", "K", "model", "get_rank_size", "npu_session", "os",
)  # fmt: skip

OLD_STATEMENTS = (
    "print 'x', @",
    "print >>sys.stderr, @",
    "exec 'x = 1' in scope",
    "raise ValueError, 'no'",
    "x = `tf.Session()`",
    "x = 0777 + 10L",
    "try:\n    $ = @\nexcept Exception, e:\n    print e",
    "if x <> y: print tf.Session()",
    "def f(a, (b, c)): return tf.nn.dropout(b, c)",
    "x = ur'\\d'",
)

SUITES = (
    "def run(x, y, config):\n%s",
    "def main(unused_argv):\n%s",
    "class Model(Base):\n%s",
    "class Trainer(object):\n    '''Trains.'''\n    def train(self, x):\n%%s",
    "if x:\n%s\nelse:\n    pass",
    "if x: pass\nelif y:\n%s",
    "for i in range(10):\n%s",
    "while True:\n%s\n    break",
    "with tf.Graph().as_default():\n%s",
    "with tf.device('/gpu:0'):\n%s",
    "with open(x) as f, tf.Session() as sess:\n%s",
    "try:\n%s\nexcept ImportError:\n    pass",
    "try:\n    pass\nfinally:\n%s",
    "async def go(x):\n%s\n    await x",
    "@decorate(tf.Session())\ndef decorated(x=tf.Session(), *a, **k):\n%s",
    "if __name__ == '__main__':\n%s",
    "match x:\n    case 1:\n%%s",
)

HEADS = (
    "",
    "",
    "'''What it does.'''",
    '"""What\n\nit does."""\nfrom __future__ import print_function',
    "from __future__ import absolute_import\nfrom __future__ import division, print_function",
    "from __future__ import absolute_import; from __future__ import division",
    "#!/usr/bin/env python",
    "# Copyright\n\n'''Text.'''  # behind\nfrom __future__ import (\n    division,\n)",
    "from __future__ import division  # why",
    "'''a''' ; from __future__ import division; import os",
)


def program(random: Random, statements: int = 12, *, old: bool = False) -> str:
    """A program with about this many statements; with `old`, some of Python 2."""
    parts = [random.choice(HEADS), random.choice(TENSORFLOW)]
    parts += random.choices(OTHERS, k=random.randrange(5))
    if random.random() < 0.2:
        random.shuffle(parts)
    body = block(random, random.randint(1, statements), depth=0)
    if old:
        place = random.randint(0, len(body))
        body.insert(place, _filled(random, random.choice(OLD_STATEMENTS)))
    return "\n".join([part for part in parts if part] + body) + "\n" * random.randrange(3)


def block(random: Random, count: int, depth: int) -> list[str]:
    """Some statements, a few of them with a suite of their own."""
    lines: list[str] = []
    while count > 0:
        if depth < 4 and random.random() < 0.25:
            inner = block(random, random.randint(1, max(1, count)), depth + 1)
            lines.append(_suite(random, "\n".join(inner)))
        else:
            lines.append(statement(random))
        count -= 1
    return lines


def statement(random: Random) -> str:
    return _filled(random, random.choice(STATEMENTS))


def expression(random: Random, depth: int = 0) -> str:
    text = random.choice(EXPRESSIONS if depth < 3 else EXPRESSIONS[:20])
    while "@" in text:
        text = text.replace("@", expression(random, depth + 1), 1)
    return text


def _filled(random: Random, text: str) -> str:
    decorator = text.startswith("@tf")
    text = text[1:] if decorator else text
    while "@" in text:
        text = text.replace("@", expression(random), 1)
    while "$" in text:
        text = text.replace("$", random.choice(NAMES), 1)
    return f"@{text}" if decorator else text


def _suite(random: Random, body: str) -> str:
    shape = random.choice(SUITES)
    if "\n" not in body and shape.endswith(":\n%s") and random.random() < 0.3:
        return shape.replace("\n%s", " ") + body
    depth = 2 if "%%s" in shape else 1
    unit = random.choice(("    ", "    ", "  ", "\t"))
    if depth == 2:
        unit = "    "
    lines = [f"{unit * depth}{line}" if line else line for line in body.split("\n")]
    if body.lstrip().startswith("#") or body.rstrip().rpartition("\n")[2].lstrip().startswith("#"):
        lines.append(f"{unit * depth}pass")
    shape = shape.replace("    ", unit).replace("%%s", "%s")
    return shape.replace("%s", "\n".join(lines))
