"""Rebuilt requests."""

from proviso_client.v1 import sessions_pb2 as pb
from proviso_service.agent.rebuilding import RebuiltRequest
from proviso_service.api.answer_size import clear_if_too_large
from proviso_service.api.convert.context import item_ref
from proviso_service.api.convert.enums import ITEM_CHANGES


def rebuilt_request(rebuilt: RebuiltRequest) -> pb.RebuildRequestResponse:
    answer = pb.RebuildRequestResponse(
        payload_json=rebuilt.payload_json,
        payload_sha256=rebuilt.payload_sha256,
        recorded_sha256=rebuilt.recorded_sha256,
        matches=rebuilt.matches,
        differences=[
            pb.ItemDifference(
                item=item_ref(difference.ref),
                change=ITEM_CHANGES[difference.change],
                used_sha256=difference.used_sha256,
                current_sha256=difference.current_sha256,
            )
            for difference in rebuilt.differences
        ],
        system_prompt_changed=rebuilt.system_prompt_changed,
    )
    clear_if_too_large(answer, "payload_json")
    return answer
