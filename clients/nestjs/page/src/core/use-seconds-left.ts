import { useEffect, useState } from "preact/hooks";

/** Whole seconds until the time, in milliseconds since the epoch, counted down; 0 when it is over or not given. */
export function useSecondsLeft(until: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const left = until === undefined ? 0 : Math.max(0, Math.ceil((until - now) / 1_000));
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 500);
    return () => {
      clearInterval(timer);
    };
  }, [isOver, until]);
  return left;
}
