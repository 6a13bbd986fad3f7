import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button, EmptyState, ErrorNote, Spinner } from "../core/components/index.js";
import type { Conversation } from "./conversation.js";
import { ExchangeView } from "./ExchangeView.js";
import { LiveText } from "./LiveText.js";

/** Exchanges that are drawn at first, and more each time older ones are asked for. */
const STEP = 20;

/** The exchanges, the newest at the bottom; older ones are drawn when asked for. */
export function MessageList({ conversation }: { conversation: Conversation }) {
  const shown = useSignal(STEP);
  const exchanges = conversation.exchanges.value;
  const visible = exchanges.slice(-shown.value);
  const box = useStickyBottom(exchanges.length);
  return (
    <div class="messages" ref={box} tabIndex={0} role="region" aria-label="Conversation">
      <div class="messages-column">
        {conversation.isLoading.value && <Spinner label="Reading the conversation" showLabel />}
        {conversation.loadError.value && (
          <ErrorNote error={conversation.loadError.value} onRetry={() => void conversation.load()} />
        )}
        {exchanges.length > visible.length && (
          <Button small look="quiet" class="messages-earlier" onClick={() => (shown.value += STEP)}>
            Show earlier messages ({exchanges.length - visible.length})
          </Button>
        )}
        {exchanges.length === 0 && !conversation.isLoading.value && !conversation.loadError.value && <Welcome />}
        {visible.map((exchange) => (
          <ExchangeView
            key={exchange.key}
            exchange={exchange}
            conversation={conversation}
            isLast={exchange === exchanges.at(-1)}
          />
        ))}
        <LiveText conversation={conversation} />
      </div>
    </div>
  );
}

function Welcome() {
  return (
    <EmptyState title="Ask about your documents">
      <p>
        Select a matter on the left, or ask without one. Answers quote the documents; each numbered citation opens the
        text at the quoted words.
      </p>
    </EmptyState>
  );
}

/** Keeps the end in view while the person is there; a new question leads back to it. */
function useStickyBottom(exchangeCount: number) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [exchangeCount]);
  useEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (!element || !content) return undefined;
    let isAtEnd = true;
    const notice = (): void => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    element.addEventListener("scroll", notice, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", notice);
    };
  }, []);
  return box;
}
