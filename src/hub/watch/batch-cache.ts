import type { StoreEvent } from '../store/event-ring.ts';
import type { WatchView } from './watch-lines.ts';
import { eventLine } from './watch-lines.ts';

const cache = new WeakMap<readonly StoreEvent[], Map<string, string>>();

/**
 * The lines of one batch of events for a view. A thousand watchers with the same view share one text: the batch is the
 * same array for all subscribers of a scope, and it dies with the delivery.
 */
export function batchLines(events: readonly StoreEvent[], view: WatchView): string {
  let texts = cache.get(events);
  if (texts === undefined) {
    texts = new Map();
    cache.set(events, texts);
  }
  let text = texts.get(view.identity);
  if (text === undefined) {
    text = events.map((event) => eventLine(event, view, false)).join('');
    texts.set(view.identity, text);
  }
  return text;
}
