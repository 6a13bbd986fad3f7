const NUMBER = new Intl.NumberFormat("en");

/** 1449 as "1,449". */
export function formatCount(count: number): string {
  return NUMBER.format(count);
}

/** "1 tool", "3 tools". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Milliseconds as "40 ms", "1.2 s", "3 min 5 s". */
export function formatDuration(ms: number): string {
  if (ms < 1) return "under 1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Seconds that are left as "9:05", "45 s". */
export function formatCountdown(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A time of today as "14:05", another day as "5 Nov", another year with that. */
export function formatTime(iso: string, now = new Date()): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return "";
  if (time.toDateString() === now.toDateString()) {
    return time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  const year = time.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}
