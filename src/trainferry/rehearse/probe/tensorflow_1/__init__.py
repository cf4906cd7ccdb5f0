"""Makes `import tensorflow as tf` on TensorFlow 2.x the interface of TensorFlow 1.15."""
