"""`horovod.tensorflow.keras.callbacks` for one process."""
