import type { ButtonHTMLAttributes } from "preact";

type ButtonProps = Omit<ButtonHTMLAttributes, "class"> & {
  class?: string;
  /** One primary button a form; quiet ones have no frame. */
  look?: "primary" | "plain" | "quiet" | "danger";
  small?: boolean;
};

/** A button; it submits nothing unless `type` says so. */
export function Button({ look = "plain", small = false, class: more = "", ...rest }: ButtonProps) {
  const classes = ["button", `button-${look}`, small ? "button-small" : "", more].join(" ").trim();
  return <button type="button" {...rest} class={classes} />;
}
