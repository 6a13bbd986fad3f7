import type { ComponentChildren } from "preact";

interface PillProps {
  tone?: "neutral" | "accent" | "good" | "warning" | "danger";
  title?: string;
  children: ComponentChildren;
}

/** A word or two about the thing that it stands beside. */
export function Pill({ tone = "neutral", title, children }: PillProps) {
  return (
    <span class={`pill pill-${tone}`} title={title}>
      {children}
    </span>
  );
}
