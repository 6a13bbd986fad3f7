/** Signs for buttons that have no room for words; the button's label says what they mean. */
export function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export const EditIcon = () => <Icon path="M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9.2 4.5l2.3 2.3" />;
