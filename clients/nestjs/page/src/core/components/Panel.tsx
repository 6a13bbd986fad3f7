import { useEffect, useId, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Button } from "./Button.js";

interface PanelProps {
  title: ComponentChildren;
  /** A line under the title. */
  subtitle?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  /** With it the panel has a close button, and Escape closes it. */
  onClose?: () => void;
  /** Takes the focus when this changes, and at first; for panels that a person opens. */
  focusOn?: unknown;
  children: ComponentChildren;
}

/** A titled part of the page whose content scrolls by itself. */
export function Panel({ title, subtitle, actions, onClose, focusOn, children }: PanelProps) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focusOn !== undefined) heading.current?.focus();
  }, [focusOn]);
  const closeOnEscape = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && !event.defaultPrevented) onClose?.();
  };
  return (
    <section class="panel" aria-labelledby={id} onKeyDown={closeOnEscape}>
      <header class="panel-head">
        <div class="panel-titles">
          <h2 id={id} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          {subtitle !== undefined && <p class="panel-subtitle">{subtitle}</p>}
        </div>
        {actions}
        {onClose && (
          <Button look="quiet" small onClick={onClose} aria-label="Close" title="Close (Esc)">
            <CloseIcon />
          </Button>
        )}
      </header>
      {/* A part that scrolls can be reached by keyboard. */}
      <div class="panel-body" tabIndex={0} role="region" aria-labelledby={id}>
        {children}
      </div>
    </section>
  );
}

function CloseIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M3.5 3.5l9 9m0-9l-9 9" />
    </svg>
  );
}
