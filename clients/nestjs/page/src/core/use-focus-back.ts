import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * When something in an element was opened, puts the focus on what `opened` selects there, if anything, and when it was
 * closed on what `closed` selects.
 */
export function useFocusBack(
  element: RefObject<HTMLElement | null>,
  isOpen: boolean,
  closed: string,
  opened?: string,
): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    const target = isOpen ? opened : closed;
    if (isOpen !== wasOpen.current && target) element.current?.querySelector<HTMLElement>(target)?.focus();
    wasOpen.current = isOpen;
  }, [element, isOpen, closed, opened]);
}
