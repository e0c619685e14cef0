import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ManagedServiceAccount } from '@berth/access/addon/managed-serviceaccount';
import { MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { BerthError, errorText } from '@berth/runtime/errors';
import { ageSince } from '../../../../core/listing/listed.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderTextTable } from '../../../terminal/output-format.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { nameList } from '../../flags/option-values.ts';
import type { HealthFlags } from './proxy-flags.ts';
import { type UserServerAccess, userServerAccess } from './user-server-entry.ts';

const TIMEOUT_MS = 10_000;
const AT_ONCE = 20;
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export async function printHealth(io: CliIo, flags: HealthFlags): Promise<ExitCode> {
  const access = await userServerAccess(io, flags);
  const { clusters, tokens } = await withHub(io, flags, async (hub) => ({
    clusters:
      flags.clusters === undefined
        ? await clustersWithAddOn(hub)
        : nameList('--clusters', flags.clusters, 'clusters'),
    tokens: await oldestTokens(io, hub),
  }));
  const { default: pLimit } = await import('p-limit');
  const limit = pLimit(AT_ONCE);
  const namespace = flags.allowedIn;
  const rows = await Promise.all(
    clusters.map((cluster) => limit(() => healthOf(cluster, { namespace, ...access }))),
  );
  io.stdout.write(renderHealth(rows, { tokens, namespace, nowMs: Date.now() }));
  return rows.every(({ problem }) => problem === undefined) ? 0 : 1;
}

export interface ClusterHealth {
  readonly cluster: string;
  /** Why it did not answer. */
  readonly problem?: string;
  /** What the cluster lets the caller do there. */
  readonly allowed?: string;
  /** RFC 3339. */
  readonly since?: string | undefined;
  /** Milliseconds. */
  readonly roundTrip?: string | undefined;
  readonly tookMs: number;
}

/** @param tokens by cluster, when the oldest token of its accounts was made: RFC 3339 */
export function renderHealth(
  rows: readonly ClusterHealth[],
  {
    tokens,
    namespace,
    nowMs,
  }: {
    readonly tokens: ReadonlyMap<string, string>;
    readonly namespace: string;
    readonly nowMs: number;
  },
): string {
  const table = renderTextTable(
    ['CLUSTER', 'TUNNEL', 'ROUND TRIP', 'REQUEST', 'TOKEN', `ALLOWED IN ${namespace}`],
    rows.map(({ cluster, since, roundTrip, tookMs, allowed = 'no answer' }) => [
      ...[cluster, ageSince(since, nowMs), roundTrip === undefined ? '' : `${roundTrip} ms`, `${tookMs} ms`],
      ...[ageSince(tokens.get(cluster), nowMs), allowed],
    ]),
  );
  const problems = rows.flatMap(({ cluster, problem }) =>
    problem === undefined ? [] : [`${cluster}: ${problem.replace(`tunnel of cluster ${cluster}: `, '')}\n`],
  );
  return [table, ...(problems.length > 0 ? ['\n', ...problems] : [])].join('');
}

async function clustersWithAddOn(hub: KubeApi): Promise<readonly string[]> {
  const { CLUSTER_PROXY } = await import('@berth/access/addon/cluster-proxy');
  const { items } = await hub.list(MANAGED_CLUSTER_ADDON);
  const found = items.filter(({ metadata }) => metadata.name === CLUSTER_PROXY);
  return found.map(({ metadata }) => metadata.namespace ?? '').sort();
}

async function oldestTokens(io: CliIo, hub: KubeApi): Promise<ReadonlyMap<string, string>> {
  const { MANAGED_SERVICE_ACCOUNT } = await import('@berth/access/addon/managed-serviceaccount');
  const { listServed } = await import('@berth/kube/create-if-absent');
  const oldest = new Map<string, string>();
  try {
    for (const { metadata, status } of (await listServed(
      hub,
      MANAGED_SERVICE_ACCOUNT,
    )) as readonly ManagedServiceAccount[]) {
      const [cluster, made] = [metadata.namespace ?? '', status?.tokenSecretRef?.lastRefreshTimestamp];
      if (made !== undefined && made < (oldest.get(cluster) ?? '~')) oldest.set(cluster, made);
    }
  } catch (error) {
    if (!(error instanceof BerthError) || error.code !== 'kube.forbidden') throw error;
    io.stderr.write(`the ages of tokens are not shown: ${errorText(error)}\n`);
  }
  return oldest;
}

/** Asks the cluster what the caller may do there. */
async function healthOf(
  cluster: string,
  { entry, token, namespace }: UserServerAccess & { readonly namespace: string },
): Promise<ClusterHealth> {
  const startedMs = performance.now();
  const took = (): number => Math.round(performance.now() - startedMs);
  try {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const request = https.request(`${entry.server}/${encodeURIComponent(cluster)}${path}`, {
      ...(entry.caData !== undefined && { ca: Buffer.from(entry.caData, 'base64') }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ method: 'POST', agent: false, timeout: TIMEOUT_MS },
    });
    request.once('timeout', () => request.destroy(new Error('no answer within 10 s')));
    const kind = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview' };
    request.end(JSON.stringify({ ...kind, spec: { namespace } }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const { message, status } = parsed(Buffer.concat(parts).toString());
    const { 'berth-tunnel-since': since, 'berth-tunnel-round-trip-ms': roundTrip } = response.headers;
    return {
      cluster,
      ...(response.statusCode === 201 && typeof status === 'object'
        ? { allowed: allowedBy(status.resourceRules ?? []) }
        : { problem: message ?? `HTTP ${response.statusCode}` }),
      since: since?.toString(),
      roundTrip: roundTrip?.toString(),
      tookMs: took(),
    };
  } catch (error) {
    return { cluster, problem: errorText(error), tookMs: took() };
  }
}

/** Of a SelfSubjectRulesReview (kubernetes/api `authorization/v1`). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}

/** The most that rules allow, without that everybody may ask about itself. */
export function allowedBy(rules: readonly ResourceRule[]): 'all' | 'write' | 'read' | 'no rule' {
  const own = rules.filter(
    ({ resources }) => resources?.every((one) => one.startsWith('selfsubject')) !== true,
  );
  if (own.length === 0) return 'no rule';
  if (own.some((rule) => [rule.verbs, rule.apiGroups, rule.resources].every((list) => list?.includes('*'))))
    return 'all';
  return own.every(({ verbs }) => verbs.every((verb) => READS.has(verb))) ? 'read' : 'write';
}

interface Review {
  /** Of a refusal: `Failure`. */
  readonly status?: string | { readonly resourceRules?: readonly ResourceRule[] };
  readonly message?: string;
}

function parsed(text: string): Review {
  try {
    return (JSON.parse(text) ?? {}) as Review;
  } catch {
    return {};
  }
}
