import { useSignal } from "@preact/signals";
import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import { api, pathOf } from "../core/api.js";
import type { RebuiltRequest } from "../core/contract.js";
import { SentPayload } from "./SentPayload.js";
import { itemKey, itemName } from "./item-words.js";

const CHANGES: Record<string, string> = {
  ITEM_CHANGE_CHANGED: "has another text in the catalog now",
  ITEM_CHANGE_MISSING: "has left the catalog",
  ITEM_CHANGE_LOST: "is no longer stored, so it is not in here",
};

/** All that the model was sent, rebuilt when asked for. */
export function SentRequest({ turnId }: { turnId: string }) {
  const rebuilt = useSignal<RebuiltRequest | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const rebuild = async (): Promise<void> => {
    isBusy.value = true;
    failure.value = undefined;
    try {
      rebuilt.value = await api.get<RebuiltRequest>(`${pathOf("turns", turnId)}/request`);
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <section class="context-block" aria-labelledby="sent-title">
      <h3 id="sent-title">What the model was sent</h3>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      {isBusy.value && <Spinner label="Rebuilding the request" showLabel />}
      {rebuilt.value ? (
        <Rebuilt request={rebuilt.value} />
      ) : (
        <Button small disabled={isBusy.value} onClick={() => void rebuild()}>
          Show all that was sent
        </Button>
      )}
    </section>
  );
}

function Rebuilt({ request }: { request: RebuiltRequest }) {
  return (
    <>
      <p class="item-note">
        {request.matches
          ? "This is exactly what was sent: its checksum is the recorded one."
          : "This differs from what was sent: its checksum is not the recorded one."}
        {request.system_prompt_changed && " The service’s own instructions are others now."}
      </p>
      <ul>
        {request.differences.map(({ item, change }) => (
          <li class="item-note" key={itemKey(item)}>
            {itemName(item)} {CHANGES[change] ?? change}
          </li>
        ))}
      </ul>
      {request.truncated ? (
        <p class="item-note">The request is too large to be shown.</p>
      ) : (
        <SentPayload json={request.payload_json} />
      )}
    </>
  );
}
