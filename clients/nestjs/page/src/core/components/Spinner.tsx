/** Something is under way; the label says what, to those who do not see it too. */
export function Spinner({ label, showLabel = false }: { label: string; showLabel?: boolean }) {
  return (
    <span class="spinner" role="status">
      <span class="spinner-ring" aria-hidden="true" />
      <span class={showLabel ? undefined : "visually-hidden"}>{label}</span>
    </span>
  );
}
