/** Goes to another screen of the page. Who listens to `popstate` draws it. */
export function go(address: string): void {
  history.pushState(undefined, '', address);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Links to screens do not load the page again. Those that are opened elsewhere, and those to other places, do. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest('a[href]');
    const href = link?.getAttribute('href') ?? '';
    const isScreen = /^\/($|\?|p\/|c\/|change)/.test(href);
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (!isScreen || !isPlain || event.defaultPrevented) return;
    event.preventDefault();
    go(href);
    if (!href.startsWith('/?')) scrollTo(0, 0);
  });
}
