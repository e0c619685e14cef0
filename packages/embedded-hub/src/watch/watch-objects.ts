import { randomInt } from 'node:crypto';
import type { ApiResponse, StreamSink } from '../wire/api-response.ts';
import type { Cluster } from '../request/cluster.ts';
import { selectedName } from '../request/field-selector.ts';
import type { ListOptions } from '../request/list-options.ts';
import { checkNotFuture, parseListOptions } from '../request/list-options.ts';
import type { ResourceContext } from '../request/request-context.ts';
import { dependsOnVersion, selectorOf } from '../request/object-selector.ts';
import { prepareForSelectors } from '../request/prepare-for-selectors.ts';
import { selectableObjects } from '../request/selectable-objects.ts';
import { negotiatedForm } from '../request/request-context.ts';
import { includeObjectOf } from '../request/table-options.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import type { StatusError } from '../wire/status-error.ts';
import { expired } from '../wire/status-errors.ts';
import type { WatchView } from './watch-lines.ts';
import type { WatchPlan } from './watch-session.ts';
import { WatchSession } from './watch-session.ts';

const DEFAULT_TIMEOUT_SECONDS = 1_800;

/**
 * `?watch=true`: a stream of changes.
 * @throws StatusError 400, 422, 504; an expired version is reported in the stream
 */
export async function watchObjects(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, query, info } = context;
  const options = parseListOptions(query, ref);
  const view = viewOf(context, ref, options);
  // kube-apiserver accepts a watch from a future version, and waits; only a list rejects it.
  if (options.sendInitialEvents === true) checkNotFuture(options, cluster.store.rv);
  await prepareForSelectors(context, { ref, namespace: info.namespace, options });
  const namespace = ref.definition.namespaced && info.namespace !== '' ? info.namespace : undefined;
  const name = info.name === '' ? selectedName(options.fields) : info.name;
  const scope = {
    namespace: ref.definition.namespaced ? namespace : '',
    name: name === '' ? undefined : name,
  };
  const run = (sink: StreamSink): void => {
    const from = startOfWatch(cluster, { ref, namespace, options, view });
    if (from === undefined) return sendErrorEvent(sink, tooOld(options, cluster));
    const plan: WatchPlan = {
      storage: ref.definition.storageKey,
      scope: scopeOf(ref, scope),
      view,
      bookmarks: options.allowWatchBookmarks,
      timeoutMs: timeoutSeconds(options) * 1000,
      from,
    };
    new WatchSession(plan, sink, cluster).start();
  };
  return { kind: 'stream', contentType: streamType(view), run };
}

function scopeOf(
  ref: ResourceRef,
  scope: { namespace: string | undefined; name: string | undefined },
): WatchPlan['scope'] {
  if (ref.definition.namespaced) return scope;
  return scope.name === undefined ? {} : { namespace: '', name: scope.name };
}

function viewOf(context: ResourceContext, ref: ResourceRef, options: ListOptions): WatchView {
  const { query, info, cluster } = context;
  const form = negotiatedForm(context);
  const includeObject = includeObjectOf(query);
  const named = info.name === '' ? options.fields : [...options.fields, nameIs(info.name)];
  const what = [apiVersionOf(ref), form, includeObject, info.namespace, options.labels, named];
  return {
    ref,
    form,
    includeObject,
    selects: selectorOf(ref, { labels: options.labels, fields: named }),
    identity: JSON.stringify(what),
    ...(ref.definition.conversion?.kind === 'webhook' && {
      prepare: prepareEvents(cluster, ref, dependsOnVersion({ fields: named })),
    }),
    nowMs: () => cluster.clock.now(),
  };
}

/**
 * @param selects whether the selector depends on the version; then the previous states are
 * converted, too
 */
function prepareEvents(
  cluster: Cluster,
  ref: ResourceRef,
  selects: boolean,
): NonNullable<WatchView['prepare']> {
  return (changes) => {
    const before = selects ? changes.flatMap(({ previous }) => previous ?? []) : [];
    return cluster.conversions.prepare([...before, ...changes.map(({ entry }) => entry)], ref);
  };
}

function nameIs(name: string): { path: string; equals: boolean; value: string } {
  return { path: 'metadata.name', equals: true, value: name };
}

/** Undefined if the history does not reach back to the requested version. */
function startOfWatch(
  cluster: Cluster,
  what: { ref: ResourceRef; namespace: string | undefined; options: ListOptions; view: WatchView },
): WatchPlan['from'] | undefined {
  const { ref, namespace, options, view } = what;
  const { store } = cluster;
  const requested = options.resourceVersion ?? 0;
  if (options.sendInitialEvents === true || (requested === 0 && options.sendInitialEvents === undefined)) {
    const present = selectableObjects(store, ref, namespace, options);
    // If selection needs the conversion webhook, the session selects after the conversion.
    const selectsAfterConversion = view.prepare !== undefined && dependsOnVersion(options);
    const entries = selectsAfterConversion ? present : present.filter((entry) => view.selects(entry));
    return {
      kind: 'state',
      rv: store.rv,
      entries,
      markEnd: options.sendInitialEvents === true && options.allowWatchBookmarks,
    };
  }
  const rv = requested === 0 ? store.durableRv : requested;
  const history = store.eventsSince(ref.definition.storageKey, rv);
  if (history === undefined) return undefined;
  const missed =
    namespace === undefined ? history : history.filter(({ entry }) => entry.namespace === namespace);
  // The requested version is still being written: no event was missed, and events up to it are
  // skipped.
  return { kind: 'version', rv: Math.max(rv, missed.at(-1)?.rv ?? 0), missed };
}

function tooOld(options: ListOptions, cluster: Cluster): StatusError {
  return expired(
    `too old resource version: ${String(options.resourceVersion ?? 0)} (${String(cluster.store.rv)})`,
  );
}

function sendErrorEvent(sink: StreamSink, error: StatusError): void {
  sink.write(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
  sink.end();
}

/** Default: random between 30 and 60 minutes, so that clients do not reconnect at the same time. */
function timeoutSeconds(options: ListOptions): number {
  const requested = options.timeoutSeconds ?? 0;
  return requested > 0
    ? Math.min(requested, 86_400)
    : DEFAULT_TIMEOUT_SECONDS + randomInt(DEFAULT_TIMEOUT_SECONDS);
}

function streamType(view: WatchView): string {
  return view.form.as === 'object' ? 'application/json' : 'application/json;stream=watch';
}
