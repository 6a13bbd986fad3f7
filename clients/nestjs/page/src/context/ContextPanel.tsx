import { useSignal } from "@preact/signals";
import { useConversation } from "../chat/opened-conversation.js";
import { exchangeOf } from "../chat/conversation.js";
import type { TurnView } from "../chat/turn-view.js";
import { api, pathOf } from "../core/api.js";
import { Button, EmptyState, ErrorNote, Panel, Spinner } from "../core/components/index.js";
import type { ItemRef, RequestContext, Turn } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { useLoaded } from "../core/use-loaded.js";
import { Assets } from "./Assets.js";
import { FillMeters } from "./FillMeters.js";
import { ItemSections } from "./ItemSections.js";
import { ItemText } from "./ItemText.js";
import { Omitted } from "./Omitted.js";
import { SentRequest } from "./SentRequest.js";
import { summaryLine } from "./summary.js";
import { TurnFacts } from "./TurnFacts.js";

/** What an answer was made of, and why: its items, what was left out, files, room, and the request itself. */
export function ContextPanel({ turnId }: { turnId: string }) {
  const navigation = useNavigation();
  const item = useSignal<ItemRef | undefined>(undefined);
  const view = exchangeOf(useConversation().exchanges, turnId)?.view.value;
  const listed = listedContext(view);
  const { found, failure, retry } = useLoaded(
    async (signal) => ({ context: view && !listed ? await readContext(turnId, signal) : undefined }),
    [turnId, view?.end],
  );
  const close = (): void => {
    navigation.closeSide();
  };
  if (item.value) {
    return <ItemText item={item.value} onBack={() => (item.value = undefined)} onClose={close} />;
  }
  const context = listed ?? found?.context;
  return (
    <Panel
      title="Context used"
      subtitle={context ? summaryLine(context.items) : undefined}
      onClose={close}
      focusOn={turnId}
    >
      {view && context && <ContextParts view={view} context={context} onOpenItem={(opened) => (item.value = opened)} />}
      {!context && failure && <ErrorNote error={failure} onRetry={retry} />}
      {view && !context && !failure && !found && <Spinner label="Loading the context" />}
      {!context && (!view || found) && <EmptyState title="No context data available" />}
    </Panel>
  );
}

/** The context of a turn that was read with its lists; a turn that was followed came without. */
function listedContext(view: TurnView | undefined): RequestContext | undefined {
  const context = view?.requestContext;
  return context && context.items.length + context.omitted.length > 0 ? context : undefined;
}

async function readContext(turnId: string, signal: AbortSignal): Promise<RequestContext | undefined> {
  const turn = await api.get<Turn>(pathOf("turns", turnId), { signal });
  return turn.final_state?.request_context;
}

interface ContextPartsProps {
  view: TurnView;
  context: RequestContext;
  onOpenItem: (item: ItemRef) => void;
}

function ContextParts({ view, context, onOpenItem }: ContextPartsProps) {
  const navigation = useNavigation();
  const about = context.matter_context;
  return (
    <div class="context-parts">
      {about && about.matter_id !== "" && (
        <p class="context-about">
          About <strong>{about.matter_name || "the matter"}</strong>
          {about.document_id !== "" && (
            <>
              {", "}
              <Button
                look="quiet"
                small
                onClick={() => {
                  navigation.openDocument({
                    matterId: about.matter_id,
                    documentId: about.document_id,
                    filename: about.document_name,
                  });
                }}
              >
                {about.document_name || "the document"}
              </Button>
            </>
          )}
        </p>
      )}
      <ItemSections items={context.items} onOpen={onOpenItem} />
      <Omitted omitted={context.omitted} onOpen={onOpenItem} />
      <Assets assets={context.assets} />
      {context.fill && <FillMeters fill={context.fill} />}
      <TurnFacts view={view} />
      <SentRequest key={view.turnId} turnId={view.turnId} />
    </div>
  );
}
