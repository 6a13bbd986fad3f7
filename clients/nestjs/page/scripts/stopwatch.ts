import type { Page } from "playwright-core";

/**
 * Milliseconds from the next event of the type, which the act causes, to the first frame in which the page has the
 * element.
 */
export async function timed(page: Page, type: string, selector: string, act: () => Promise<void>): Promise<number> {
  // Events of the keyboard and the mouse take another way to the page than scripts do: the watch has to be there before.
  const watch = await page.evaluateHandle(
    ([type, selector]) => {
      const measured = new Promise<number>((resolve) => {
        const begin = (began: Event): void => {
          const observer = new MutationObserver(() => {
            if (!document.querySelector(selector)) return;
            observer.disconnect();
            // A task behind the frame's callbacks is behind the frame.
            requestAnimationFrame(() =>
              setTimeout(() => {
                resolve(performance.now() - began.timeStamp);
              }),
            );
          });
          observer.observe(document.body, { childList: true, subtree: true, characterData: true });
        };
        window.addEventListener(type, begin, { capture: true, once: true });
      });
      const tooLate = new Promise<number>((_, reject) => {
        setTimeout(() => {
          reject(new Error(`no ${selector} within 15 s of ${type}`));
        }, 15_000);
      });
      return { time: Promise.race([measured, tooLate]) };
    },
    [type, selector] as const,
  );
  await act();
  return watch.evaluate(({ time }) => time);
}

/** Watches the next page being loaded until it has the element; answers with what tells its times, in milliseconds. */
export async function watchLoading(page: Page, selector: string): Promise<() => Promise<Record<string, number>>> {
  await page.addInitScript((selector) => {
    const marked = (name: string, element: string): void => {
      if (performance.getEntriesByName(name).length === 0 && document.querySelector(element)) performance.mark(name);
    };
    new MutationObserver(() => {
      marked("interactive", "#question");
      marked("filled", selector);
    }).observe(document, { childList: true, subtree: true });
  }, selector);
  return async () => {
    await page.waitForFunction(() => performance.getEntriesByName("filled").length > 0);
    return page.evaluate(() => {
      const at = (name: string): number => performance.getEntriesByName(name)[0]?.startTime ?? NaN;
      return {
        "load: first contentful paint": at("first-contentful-paint"),
        "load: interactive, a question can be typed": at("interactive"),
        "load: the matters are there": at("filled"),
      };
    });
  };
}
