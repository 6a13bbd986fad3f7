import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Spinner } from "../core/components/index.js";
import type { Target } from "./OpenedDocument.js";
import { TextLines } from "./TextLines.js";
import { startOf } from "./document-text.js";
import type { DocumentText } from "./document-text.js";
import { linesOf } from "./lines.js";
import type { Places } from "./places.js";
import { anchorIn, isSeen, lineAt, offsetAtTop, restore, reveal } from "./scrolling.js";
import { holds, textOf } from "./text-window.js";

/** Distance from an end of the loaded text at which more is loaded, in pixels. */
const NEAR_PX = 1_200;

/** Rest after which page and section are asked for, in milliseconds. */
const REST_MS = 150;

interface ScrollerProps {
  text: DocumentText;
  places: Places;
  target: Target;
  label: string;
}

/** The loaded text. Loads more at its ends and keeps what is read where it is. */
export function Scroller({ text, places, target, label }: ScrollerProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const reached = useRef<Target | undefined>(undefined);
  const window = text.window.value;
  const lines = useMemo(
    () => (window === undefined ? [] : linesOf(textOf(window), startOf(window), places.spans)),
    [window, places.spans],
  );
  // Taken before the new text is put in: where the reader is, and whether the focus is in the text.
  const anchor = anchorIn(scroller.current);
  const hadFocus = scroller.current?.contains(document.activeElement) === true;
  const settle = useRest(() => {
    if (scroller.current) locate(scroller.current, text, places);
  });

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || window === undefined) return;
    if (reached.current !== target && holds(window, target.span)) {
      arrive(element, target);
      reached.current = target;
    } else if (anchor !== undefined) {
      restore(element, anchor);
    }
    if (hadFocus && !element.contains(document.activeElement)) element.focus({ preventScroll: true });
    loadMore(element, text);
    settle();
    // The anchor belongs to the change of the window: it is no reason of its own to run.
  }, [window, target]);

  return (
    <div
      ref={scroller}
      class="viewer-scroller"
      tabIndex={0}
      role="region"
      aria-label={label}
      aria-busy={window === undefined && text.error.value === undefined}
      onScroll={({ currentTarget }) => {
        loadMore(currentTarget, text);
        settle();
      }}
    >
      {window === undefined && text.error.value === undefined && <Spinner label="Loading the text" showLabel />}
      <TextLines lines={lines} current={places.current} />
    </div>
  );
}

/** Scrolls to the target, and moves the focus to the mark if there is one. */
function arrive(scroller: HTMLElement, { span, focus }: Target): void {
  const mark = span.end > span.start ? scroller.querySelector<HTMLElement>(".mark-current") : null;
  const element = mark ?? lineAt(scroller, span.start);
  if (element === undefined) return;
  if (mark !== null || span.start > 0) reveal(scroller, element);
  else scroller.scrollTop = 0;
  // A reader who has gone on to something else keeps the focus there.
  if (focus && scroller.closest(".viewer")?.contains(document.activeElement) === true) {
    (mark ?? scroller).focus({ preventScroll: true });
  }
}

function loadMore(scroller: HTMLElement, text: DocumentText): void {
  if (scroller.scrollTop < NEAR_PX) void text.extend("before");
  if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX) void text.extend("after");
}

/** Asks for page and section of what is read: the mark that is shown, else the first line that is seen. */
function locate(scroller: HTMLElement, text: DocumentText, { spans, current }: Places): void {
  const mark = scroller.querySelector(".mark-current");
  const span = mark !== null && isSeen(scroller, mark) ? spans[current] : undefined;
  const offset = span?.start ?? offsetAtTop(scroller);
  if (offset !== undefined) void text.locate(offset);
}

/** A function that runs `act` once nothing has called it for a while. */
function useRest(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  return () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(act, REST_MS);
  };
}
