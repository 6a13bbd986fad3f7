import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import { api, pathOf } from "../core/api.js";
import type { Document, Matter, MatterContext } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { useLoaded } from "../core/use-loaded.js";
import type { Conversation } from "./conversation.js";
import type { Exchange } from "./exchange.js";
import { focusQuestion } from "./focus-question.js";

interface ContextPickerProps {
  choice: "matter" | "document";
  exchange: Exchange;
  conversation: Conversation;
}

/** What can be chosen; `hasMore` where that is not all. */
interface Choices {
  contexts: MatterContext[];
  hasMore: boolean;
}

/** Lets the person choose what the question is about, and asks it again about that. */
export function ContextPicker({ choice, exchange, conversation }: ContextPickerProps) {
  const navigation = useNavigation();
  const about = exchange.matterContext ?? exchange.view.value.requestContext?.matter_context;
  const matterId = about?.matter_id ?? navigation.selectedMatter.value?.matterId ?? "";
  const { found, failure, retry } = useLoaded(
    (signal) => (choice === "matter" ? matters(signal) : documents(matterId, about?.document_id, signal)),
    [choice, matterId, about?.document_id],
  );
  const choose = (context: MatterContext): void => {
    const { matter_id, matter_name, document_id, document_name } = context;
    navigation.selectMatter({ matterId: matter_id, name: matter_name || (about?.matter_name ?? "") });
    navigation.selectDocument(document_id ? { documentId: document_id, name: document_name } : undefined);
    void conversation.ask(exchange.question, context);
    focusQuestion();
  };
  if (failure) return <ErrorNote error={failure} onRetry={retry} />;
  if (!found) return <Spinner label="Looking for what there is" />;
  const { contexts, hasMore } = found;
  return (
    <div class="picker" role="group" aria-label={choice === "matter" ? "Ask about a matter" : "Ask about a document"}>
      <p>
        {contexts.length > 0
          ? "Ask the same about:"
          : "There is no matter yet. Create one on the left and upload its documents."}
      </p>
      <div class="picker-choices">
        {contexts.map((context) => (
          <Button
            key={`${context.matter_id} ${context.document_id}`}
            small
            disabled={conversation.running.value !== undefined}
            onClick={() => {
              choose(context);
            }}
          >
            {labelOf(choice, context)}
          </Button>
        ))}
      </div>
      {hasMore && <p>There are more: select one on the left and ask again.</p>}
    </div>
  );
}

function labelOf(choice: "matter" | "document", context: MatterContext): string {
  if (choice === "matter") return context.matter_name;
  return context.document_name || "The whole matter";
}

async function matters(signal: AbortSignal): Promise<Choices> {
  const page = await api.get<{ matters: Matter[]; next_page_token: string }>("/matters", {
    query: { page_size: 20 },
    signal,
  });
  const contexts = page.matters.map(({ matter_id, name }) => ({
    matter_id,
    matter_name: name,
    document_id: "",
    document_name: "",
  }));
  return { contexts, hasMore: page.next_page_token !== "" };
}

/** The matter, and its documents that can be asked about: the one that was asked about too while it is being read. */
async function documents(matterId: string, askedId: string | undefined, signal: AbortSignal): Promise<Choices> {
  const path = `${pathOf("matters", matterId)}/documents`;
  const page = await api.get<{ documents: Document[]; next_page_token: string }>(path, {
    query: { page_size: 50 },
    signal,
  });
  const isOffered = ({ document_id, status }: Document): boolean =>
    status === "DOCUMENT_STATUS_READY" || (document_id === askedId && status !== "DOCUMENT_STATUS_FAILED");
  const whole = { matter_id: matterId, matter_name: "", document_id: "", document_name: "" };
  const each = page.documents
    .filter(isOffered)
    .map(({ document_id, filename }) => ({ ...whole, document_id, document_name: filename }));
  const asked = ({ document_id }: MatterContext): boolean => document_id === askedId;
  const contexts = [...each.filter(asked), whole, ...each.filter((context) => !asked(context))];
  return { contexts, hasMore: page.next_page_token !== "" };
}
