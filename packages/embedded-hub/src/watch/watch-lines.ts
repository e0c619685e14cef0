import type { ResponseForm } from '../wire/negotiate.ts';
import type { JsonObject } from '../json/json-value.ts';
import { entryJson, type IncludeObject } from '../request/representation.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import { toVersion } from '../scheme/to-version.ts';
import type { StoreEvent } from '../store/subscriptions.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { renderTable } from '../table/table.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Format, version and selector of one watch. */
export interface WatchView {
  readonly ref: ResourceRef;
  readonly form: ResponseForm;
  readonly includeObject: IncludeObject;
  readonly selects: (entry: StoredObject) => boolean;
  /** Equal for watches that get exactly the same lines. */
  readonly identity: string;
  readonly nowMs: () => number;
  /** Calls conversion webhooks for the objects in the lines. Rejects with a StatusError. */
  readonly prepare?: (changes: readonly Pick<StoreEvent, 'entry' | 'previous'>[]) => Promise<void>;
}

/**
 * The event type for a watch with a selector: an object that starts to match is added, one that
 * stops matching is deleted.
 */
export function visibleType(
  event: StoreEvent,
  selects: (entry: StoredObject) => boolean,
): WatchEventType | undefined {
  const before = event.previous !== undefined && selects(event.previous);
  const after = event.type !== 'deleted' && selects(event.entry);
  if (before && after) return 'MODIFIED';
  if (after) return 'ADDED';
  return before ? 'DELETED' : undefined;
}

/**
 * One line of the stream, '' if the watch does not include the change. A deletion has the version
 * of the deletion.
 */
export function eventLine(event: StoreEvent, view: WatchView, withColumns: boolean): string {
  const type = visibleType(event, view.selects);
  if (type === undefined) return '';
  return objectLine(type, event.entry, view, withColumns);
}

export function objectLine(
  type: WatchEventType,
  entry: StoredObject,
  view: WatchView,
  withColumns: boolean,
): string {
  return `{"type":"${type}","object":${renderEntry(entry, view, withColumns)}}\n`;
}

function renderEntry(entry: StoredObject, view: WatchView, withColumns: boolean): string {
  const { ref, form, includeObject } = view;
  if (form.as !== 'table') return entryJson(entry, ref, form);
  const listMeta = { resourceVersion: String(entry.rv) };
  const now = view.nowMs();
  const table = renderTable(ref, [toVersion(entry.object, ref)], {
    listMeta,
    includeObject,
    now,
    withColumns,
  });
  return JSON.stringify({ ...table, apiVersion: form.apiVersion });
}

/** A bookmark with the current version, from which the client can continue. */
export function bookmarkLine(rv: number, view: WatchView, initialEventsEnd: boolean): string {
  const { ref, form } = view;
  const metadata: JsonObject = {
    resourceVersion: String(rv),
    ...(form.as !== 'table' && { creationTimestamp: null }),
    ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
  };
  const kinds =
    form.as === 'object'
      ? { kind: ref.definition.kind, apiVersion: apiVersionOf(ref) }
      : { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
  if (form.as !== 'table') return `${JSON.stringify({ type: 'BOOKMARK', object: { ...kinds, metadata } })}\n`;
  const row = { cells: [], object: { ...kinds, metadata: { ...metadata, creationTimestamp: null } } };
  const object = {
    kind: 'Table',
    apiVersion: form.apiVersion,
    metadata: { resourceVersion: String(rv) },
    columnDefinitions: null,
    rows: initialEventsEnd ? [row] : [],
  };
  return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
}
