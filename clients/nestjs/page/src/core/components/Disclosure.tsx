import type { ComponentChildren } from "preact";

interface DisclosureProps {
  summary: ComponentChildren;
  isOpen?: boolean;
  onToggle?: (isOpen: boolean) => void;
  class?: string;
  children: ComponentChildren;
}

/** Something that is opened by its summary. */
export function Disclosure({ summary, isOpen = false, onToggle, class: more = "", children }: DisclosureProps) {
  return (
    <details
      class={`disclosure ${more}`.trim()}
      open={isOpen}
      onToggle={(event) => onToggle?.(event.currentTarget.open)}
    >
      <summary>
        <svg class="icon disclosure-mark" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M6 3.5l4.5 4.5L6 12.5" />
        </svg>
        {summary}
      </summary>
      <div class="disclosure-body">{children}</div>
    </details>
  );
}
