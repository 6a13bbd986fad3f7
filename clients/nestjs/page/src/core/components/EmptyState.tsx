import type { ComponentChildren } from "preact";

interface EmptyStateProps {
  title: string;
  /** What the person can do. */
  children?: ComponentChildren;
}

/** Says that there is nothing here, and what to do about it. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="empty-body">{children}</div>}
    </div>
  );
}
