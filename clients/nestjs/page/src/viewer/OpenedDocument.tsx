import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { Button, ErrorNote } from "../core/components/index.js";
import { useNavigation } from "../core/navigation.js";
import type { DocumentPlace } from "../core/navigation.js";
import { PageView } from "./PageView.js";
import { PlaceInDocument } from "./PlaceInDocument.js";
import { Scroller } from "./Scroller.js";
import { Stepper } from "./Stepper.js";
import { ViewChoice, hasDrawnPages } from "./ViewChoice.js";
import type { DocumentView } from "./ViewChoice.js";
import { DocumentText } from "./document-text.js";
import type { Whereabouts } from "./document-text.js";
import { placesOf, stepped } from "./places.js";
import type { Places } from "./places.js";
import type { Span } from "./text-window.js";

/** What to scroll to: a place that is marked, or any other. A new object is a new wish. */
export interface Target {
  span: Span;
  /** Whether the focus goes there too. */
  focus: boolean;
}

const BEGINNING: Span = { start: 0, end: 0 };

/** A document's text with its title, the places to step through, and where in the document one is. */
export function OpenedDocument({ place }: { place: DocumentPlace }) {
  const navigation = useNavigation();
  const id = useId();
  const text = useMemo(() => new DocumentText(place.matterId, place.documentId), [place.matterId, place.documentId]);
  const places = useSignal<Places>(placesOf(place));
  const target = useSignal<Target>({ span: BEGINNING, focus: true });
  const title = place.filename ?? (text.filename.value || "the document");
  const view = useSignal<DocumentView>("text");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(
    () => () => {
      text.close();
    },
    [text],
  );
  const goTo = (span: Span, focus: boolean): void => {
    target.value = { span, focus };
    void text.show(span);
  };
  const choose = (next: Places, focus = true): void => {
    places.value = next;
    goTo(next.spans[next.current] ?? BEGINNING, focus);
  };
  useEffect(() => {
    heading.current?.focus();
    choose(placesOf(place));
    // A place that is opened again is a new object, and is shown again.
  }, [place, text]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") navigation.closeSide();
    else if (event.key === "n") choose(stepped(places.peek(), 1));
    else if (event.key === "p") choose(stepped(places.peek(), -1));
    else return;
    event.preventDefault();
  };
  return (
    <section class="panel viewer" aria-labelledby={id} onKeyDown={onKeyDown}>
      <header class="panel-head">
        <div class="panel-titles">
          <h2 id={id} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          <p class="panel-subtitle">{text.where.value && wordsOf(text.where.value)}</p>
        </div>
        <Button
          look="quiet"
          small
          aria-label="Close the document"
          title="Close (Esc)"
          onClick={() => {
            navigation.closeSide();
          }}
        >
          <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M3.5 3.5l9 9m0-9l-9 9" />
          </svg>
        </Button>
      </header>
      <ViewChoice place={place} title={title} view={view.value} onChoose={(chosen) => (view.value = chosen)} />
      <Stepper
        places={places.value}
        onStep={(by) => {
          // Who presses a button again and again keeps it.
          choose(stepped(places.peek(), by), false);
        }}
      />
      {view.value === "page" && hasDrawnPages(title) ? (
        <PageView matterId={place.matterId} documentId={place.documentId} title={title} span={target.value.span} />
      ) : (
        <TextView
          text={text}
          places={places.value}
          target={target.value}
          title={title}
          quote={place.quote}
          onGo={goTo}
        />
      )}
    </section>
  );
}

interface TextViewProps {
  text: DocumentText;
  places: Places;
  target: Target;
  title: string;
  quote: string | undefined;
  onGo: (span: Span, focus: boolean) => void;
}

/** The text, and how to get to another place of it. */
function TextView({ text, places, target, title, quote, onGo }: TextViewProps) {
  return (
    <>
      {text.error.value && (
        <div class="viewer-failure">
          <ErrorNote error={text.error.value} onRetry={() => void text.show(target.span)} />
          {quote && text.window.value === undefined && <blockquote class="viewer-quote">{quote}</blockquote>}
        </div>
      )}
      <Scroller text={text} places={places} target={target} label={`Text of ${title}`} />
      <PlaceInDocument
        text={text}
        onGo={(start) => {
          onGo({ start, end: start }, false);
        }}
      />
    </>
  );
}

/** As "Page 3 · 9. Governing Law › 9.2". */
function wordsOf({ page, section_path: sections }: Whereabouts): string {
  const parts = [page > 0 ? `Page ${page}` : "", sections.join(" › ")];
  return parts.filter((part) => part !== "").join(" · ");
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type !== "range";
}
