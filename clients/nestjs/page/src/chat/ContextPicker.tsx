import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import { ApiError, api, pathOf } from "../core/api.js";
import type { Document, Matter, MatterContext } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import type { Conversation } from "./conversation.js";
import type { Exchange } from "./exchange.js";

interface ContextPickerProps {
  choice: "matter" | "document";
  exchange: Exchange;
  conversation: Conversation;
}

/** Lets the person choose what the question is about, and asks it again about that. */
export function ContextPicker({ choice, exchange, conversation }: ContextPickerProps) {
  const navigation = useNavigation();
  const choices = useSignal<MatterContext[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const about = exchange.matterContext ?? exchange.view.value.requestContext?.matter_context;
  const matterId = about?.matter_id ?? navigation.selectedMatter.value?.matterId ?? "";
  useEffect(() => {
    const leaving = new AbortController();
    const found = choice === "matter" ? matters(leaving.signal) : documents(matterId, leaving.signal);
    found.then(
      (all) => (choices.value = all),
      (error: unknown) => {
        if (!leaving.signal.aborted) failure.value = ApiError.from(error);
      },
    );
    return () => {
      leaving.abort();
    };
  }, [choice, matterId, choices, failure]);
  const choose = (context: MatterContext): void => {
    const { matter_id, matter_name, document_id, document_name } = context;
    navigation.selectMatter({ matterId: matter_id, name: matter_name || (about?.matter_name ?? "") });
    navigation.selectDocument(document_id ? { documentId: document_id, name: document_name } : undefined);
    void conversation.ask(exchange.question, context);
  };
  if (failure.value !== undefined) return <ErrorNote error={failure.value} />;
  if (!choices.value) return <Spinner label="Looking for what there is" />;
  return (
    <div class="picker" role="group" aria-label={choice === "matter" ? "Ask about a matter" : "Ask about a document"}>
      <p>
        {choices.value.length > 0
          ? "Ask the same about:"
          : "There is no matter yet. Create one on the left and upload its documents."}
      </p>
      <div class="picker-choices">
        {choices.value.map((context) => (
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
    </div>
  );
}

function labelOf(choice: "matter" | "document", context: MatterContext): string {
  if (choice === "matter") return context.matter_name;
  return context.document_name || "The whole matter";
}

async function matters(signal: AbortSignal): Promise<MatterContext[]> {
  const { matters } = await api.get<{ matters: Matter[] }>("/matters", { query: { page_size: 20 }, signal });
  return matters.map(({ matter_id, name }) => ({
    matter_id,
    matter_name: name,
    document_id: "",
    document_name: "",
  }));
}

async function documents(matterId: string, signal: AbortSignal): Promise<MatterContext[]> {
  const path = `${pathOf("matters", matterId)}/documents`;
  const { documents } = await api.get<{ documents: Document[] }>(path, { query: { page_size: 50 }, signal });
  const ready = documents.filter(({ status }) => status === "DOCUMENT_STATUS_READY");
  const whole = { matter_id: matterId, matter_name: "", document_id: "", document_name: "" };
  const each = ready.map(({ document_id, filename }) => ({ ...whole, document_id, document_name: filename }));
  return [whole, ...each];
}
