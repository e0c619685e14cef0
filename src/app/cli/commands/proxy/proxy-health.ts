import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { errorText } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderTextTable } from '../../../terminal/output-format.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { nameList } from '../../flags/option-values.ts';
import type { HealthFlags } from './proxy-flags.ts';
import { type UserServerAccess, userServerAccess } from './user-server-entry.ts';

const TIMEOUT_MS = 10_000;
const AT_ONCE = 20;

export async function printHealth(io: CliIo, flags: HealthFlags): Promise<ExitCode> {
  const access = await userServerAccess(io, flags);
  const clusters =
    flags.clusters === undefined
      ? await clustersWithAddOn(io, flags)
      : nameList('--clusters', flags.clusters, 'clusters');
  const { default: pLimit } = await import('p-limit');
  const limit = pLimit(AT_ONCE);
  const rows = await Promise.all(clusters.map((cluster) => limit(() => healthOf(cluster, access))));
  io.stdout.write(
    renderTextTable(
      ['CLUSTER', 'ANSWER', 'TUNNEL SINCE', 'ROUND TRIP', 'REQUEST'],
      rows.map(({ cluster, answer, since, roundTrip, tookMs }) => [
        ...[cluster, answer, since ?? '', roundTrip === undefined ? '' : `${roundTrip} ms`, `${tookMs} ms`],
      ]),
    ),
  );
  return rows.every(({ isReached }) => isReached) ? 0 : 1;
}

async function clustersWithAddOn(io: CliIo, flags: HealthFlags): Promise<readonly string[]> {
  const { CLUSTER_PROXY } = await import('@berth/access/addon/cluster-proxy');
  const { items } = await withHub(io, flags, (hub) => hub.list(MANAGED_CLUSTER_ADDON));
  const found = items.filter(({ metadata }) => metadata.name === CLUSTER_PROXY);
  return found.map(({ metadata }) => metadata.namespace ?? '').sort();
}

interface ClusterHealth {
  readonly cluster: string;
  readonly isReached: boolean;
  /** Its version, or why there is none. */
  readonly answer: string;
  readonly since?: string | undefined;
  readonly roundTrip?: string | undefined;
  readonly tookMs: number;
}

async function healthOf(cluster: string, { entry, token }: UserServerAccess): Promise<ClusterHealth> {
  const startedMs = performance.now();
  const took = (): number => Math.round(performance.now() - startedMs);
  try {
    const request = https.get(`${entry.server}/${encodeURIComponent(cluster)}/version`, {
      ...(entry.caData !== undefined && { ca: Buffer.from(entry.caData, 'base64') }),
      ...{ headers: { authorization: `Bearer ${token}` }, agent: false, timeout: TIMEOUT_MS },
    });
    request.once('timeout', () => request.destroy(new Error('no answer within 10 s')));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const { gitVersion, message } = parsed(Buffer.concat(parts).toString());
    const { 'berth-tunnel-since': since, 'berth-tunnel-round-trip-ms': roundTrip } = response.headers;
    const isReached = response.statusCode === 200;
    const answer = (isReached ? gitVersion : message) ?? `HTTP ${response.statusCode}`;
    return {
      cluster,
      isReached,
      answer,
      since: since?.toString(),
      roundTrip: roundTrip?.toString(),
      tookMs: took(),
    };
  } catch (error) {
    return { cluster, isReached: false, answer: errorText(error), tookMs: took() };
  }
}

function parsed(text: string): { readonly gitVersion?: string; readonly message?: string } {
  try {
    return (JSON.parse(text) ?? {}) as { readonly gitVersion?: string };
  } catch {
    return {};
  }
}
