"""Stands in for the cache of table rows on the device, which a rehearsal does not have."""

import tensorflow as tf

from trainferry_stand_in.errors import only_on_device


class LruCache:
    """A cache in the memory of the device."""

    def __init__(self, cache_size=100000, load_factor=1, dtype=tf.uint32):
        only_on_device("LruCache", "it keeps rows of a table in the memory of the device")

    def cache_add(self, ids):
        only_on_device("LruCache.cache_add", "it keeps rows of a table")

    def cache_remote_index_to_local(self, ids):
        only_on_device("LruCache.cache_remote_index_to_local", "it keeps rows of a table")

    def cache_all_index_to_local(self):
        only_on_device("LruCache.cache_all_index_to_local", "it keeps rows of a table")
