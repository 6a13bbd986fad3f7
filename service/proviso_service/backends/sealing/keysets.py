"""Sets of keys of which the newest is used, and the others open what they have sealed."""

import tink
from tink import proto_keyset_format, secret_key_access
from tink.proto import tink_pb2

_SECRET = secret_key_access.TOKEN


def renewed(keys: tink.KeysetHandle, template: tink_pb2.KeyTemplate) -> tink.KeysetHandle:
    """The set with a new key in use."""
    together, new = _plain(keys), _plain(tink.new_keyset_handle(template))
    while new.primary_key_id in {key.key_id for key in together.key}:
        new = _plain(tink.new_keyset_handle(template))
    together.key.extend(new.key)
    together.primary_key_id = new.primary_key_id
    return _handle(together)


def only_newest(keys: tink.KeysetHandle) -> tink.KeysetHandle:
    """The set without all keys but the one in use."""
    plain = _plain(keys)
    newest = [key for key in plain.key if key.key_id == plain.primary_key_id]
    return _handle(tink_pb2.Keyset(primary_key_id=plain.primary_key_id, key=newest))


def _plain(keys: tink.KeysetHandle) -> tink_pb2.Keyset:
    return tink_pb2.Keyset.FromString(proto_keyset_format.serialize(keys, _SECRET))


def _handle(keys: tink_pb2.Keyset) -> tink.KeysetHandle:
    return proto_keyset_format.parse(keys.SerializeToString(), _SECRET)
