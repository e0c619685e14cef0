import type { StoreEvent } from '../store/event-ring.ts';
import type { WatchView } from './watch-lines.ts';
import { eventLine } from './watch-lines.ts';

const cache = new WeakMap<readonly StoreEvent[], Map<string, Buffer>>();

/**
 * The lines of one batch of events for a view, in UTF-8. A thousand watchers with the same view
 * share the bytes, so they are encoded once. The batch is the same array for all subscribers of a
 * scope, and is released after the delivery.
 */
export function batchLines(events: readonly StoreEvent[], view: WatchView): Buffer {
  let views = cache.get(events);
  if (views === undefined) {
    views = new Map();
    cache.set(events, views);
  }
  let bytes = views.get(view.identity);
  if (bytes === undefined) {
    bytes = Buffer.from(events.map((event) => eventLine(event, view, false)).join(''));
    views.set(view.identity, bytes);
  }
  return bytes;
}
