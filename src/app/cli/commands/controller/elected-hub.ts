import type { WorkElections } from '../../../../controllers/works/work-shares.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import { checkTiming, DEFAULT_TIMING, type ElectionTiming } from '@berth/kube/leader-election/lease';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { isDnsSubdomain } from '@berth/kube/model/selector/label-syntax';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { onAbort } from '@berth/runtime/loop/sleep';
import { sha256 } from '@berth/runtime/sha256';
import type { Command } from 'commander';
import type { Digest } from '../../../../core/publish/approval/approval-code.ts';
import type { ServeOptions } from '../../../settings/serve-options.ts';
import { SERVE_RIGHTS } from '../../../../core/rbac/rights-command.ts';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import type { HubFlags } from '../../flags/hub-flags.ts';
import { positiveDuration, wrongValue } from '../../flags/option-values.ts';

export interface HubConnection {
  readonly api: KubeApi & { readonly server: string; close(): void };
  /** No election refuses its writes. */
  readonly unguarded: KubeApi;
  /** A client with the token of somebody else, which no election guards. */
  readonly actAs: (token: string) => KubeApi & { close(): void };
  /** Not started yet. Undefined: no leader election. */
  readonly elector: LeaderElector | undefined;
  /** Elections for shares of the works. Undefined: no leader election. */
  readonly works: WorkElections | undefined;
  /** For all hub clients: it logs an outage of the hub once. */
  readonly log: Logger;
  /** Why the hub can neither be read nor written at present. */
  readonly problem: () => string | undefined;
  /** Releases the lease. */
  readonly close: () => Promise<void> | void;
}

/** Connects a long-running command to the hub. With leader election, the lease guards its writes. */
export async function connectHub(
  io: CliIo,
  flags: HubFlags,
  parts: {
    readonly election: ElectionSettings | undefined;
    readonly clock: MonotonicClock;
    readonly log: Logger;
  },
): Promise<HubConnection> {
  const { election, clock } = parts;
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const config = loadKubeConfig({ file: flags.kubeconfig, context: flags.context, env: io.env });
  const { ServerOutage } = await import('@berth/kube/transport/server-outage');
  const { quietLogger } = await import('@berth/runtime/log/quiet-logger');
  const server = config.getCurrentCluster()?.server ?? '';
  const outage = new ServerOutage({ server, clock, log: parts.log });
  const log = quietLogger(parts.log, (error) => outage.explains(error), clock);
  const problem = (): string | undefined => outage.problem;
  const { HttpKubeApi } = await import('@berth/kube/http-kube-api');
  const { RotatingKubeConfig } = await import('@berth/kube/config/rotating-kube-config');
  const actAs: HubConnection['actAs'] = (token) =>
    new HttpKubeApi({
      ...{ config: new RotatingKubeConfig(config, { token }, io.env), clock },
      // So that the audit log of the hub shows where it was done.
      userAgent: 'berth-dashboard',
    });
  if (election !== undefined) {
    const { electLeader } = await import('../../../serve/elect-leader.ts');
    const key = { namespace: DEFAULT_NAMESPACE, name: election.lease };
    const { timing } = election;
    const elected = electLeader({ config, key, timing, clock, random: Math.random, log, outage });
    return { ...elected, actAs, log, problem };
  }
  const api = new HttpKubeApi({ config, clock, rightsCommand: SERVE_RIGHTS, outage });
  return {
    api,
    actAs,
    unguarded: api,
    elector: undefined,
    works: undefined,
    log,
    problem,
    close: () => api.close(),
  };
}

/**
 * Calls `stop` on a signal, and when the lease is lost.
 * @returns a function that tells whether the lease was lost
 */
export function stopOnSignalOrLoss(
  signal: AbortSignal,
  elector: LeaderElector | undefined,
  stop: () => void,
): () => boolean {
  const ending = new AbortController();
  let isLost = false;
  const end = (): void => {
    ending.abort();
    stop();
  };
  onAbort(signal, end);
  void elector?.whenLost(ending.signal).then(() => {
    isLost = !ending.signal.aborted;
    if (isLost) stop();
  });
  return () => isLost;
}

/** The flags have the names of those of Kubernetes components. */
export interface ElectionFlags {
  /** `true` if the flag has no value. */
  readonly leaderElect?: string | true;
  readonly leaderElectResourceName?: string;
  readonly leaderElectLeaseDuration: string;
  readonly leaderElectRenewDeadline: string;
  readonly leaderElectRetryPeriod: string;
}

export function addElectionFlags(command: Command): Command {
  const seconds = (ms: number): string => `${ms / 1_000}s`;
  return command
    .option(
      '--leader-elect [true|false]',
      'only the process that has a Lease on the hub writes, other replicas are standbys (default: true; false with --embedded, and if the controller writes nothing)',
    )
    .option(
      '--leader-elect-resource-name <name>',
      'name of the Lease in berth-system (default: berth-SOURCE; berth-A.B for several sources)',
    )
    .option(
      '--leader-elect-lease-duration <duration>',
      'how long other replicas wait for a leader that does not renew its Lease',
      seconds(DEFAULT_TIMING.leaseDurationMs),
    )
    .option(
      '--leader-elect-renew-deadline <duration>',
      'a leader that has not renewed its Lease for this long stops writing',
      seconds(DEFAULT_TIMING.renewDeadlineMs),
    )
    .option(
      '--leader-elect-retry-period <duration>',
      'interval at which the leader renews its Lease and other replicas check it',
      seconds(DEFAULT_TIMING.retryPeriodMs),
    );
}

interface ElectionSettings {
  /** The name of the Lease. */
  readonly lease: string;
  readonly timing: ElectionTiming;
}

interface WritingDuties {
  readonly applies: boolean;
  readonly schedule: 'berth' | 'upstream';
  readonly works: boolean;
  readonly multiclusterDecisions: boolean;
  readonly argocd?: object | undefined;
  readonly registration?: object | undefined;
  readonly addons?: object | undefined;
  readonly admission?: object | undefined;
}

export function writesToHub(duties: WritingDuties): boolean {
  return (
    duties.applies ||
    duties.works ||
    duties.argocd !== undefined ||
    duties.registration !== undefined ||
    duties.addons !== undefined ||
    duties.admission !== undefined ||
    duties.schedule === 'berth' ||
    duties.multiclusterDecisions
  );
}

/**
 * Undefined: no leader election, the default on an embedded hub and for a controller that writes
 * nothing.
 *
 * @throws InputError for flags that cannot be used
 */
export function electionSettings(
  flags: ElectionFlags,
  duties: WritingDuties & {
    readonly embedded: boolean;
    /** The names of the sources. */
    readonly names: readonly string[];
  },
): ElectionSettings | undefined {
  const timing = timingOf(flags);
  const lease = leaseNameFlag(flags) ?? leaseNameOf(sha256, duties.names);
  return isElected(flags, !duties.embedded && writesToHub(duties)) ? { lease, timing } : undefined;
}

function isElected({ leaderElect }: ElectionFlags, byDefault: boolean): boolean {
  if (leaderElect === undefined) return byDefault;
  if (leaderElect === true || leaderElect === 'true') return true;
  if (leaderElect === 'false') return false;
  throw wrongValue('--leader-elect', leaderElect, 'true or false');
}

function timingOf(flags: ElectionFlags): ElectionTiming {
  return checkTiming({
    leaseDurationMs: positiveDuration('--leader-elect-lease-duration', flags.leaderElectLeaseDuration),
    renewDeadlineMs: positiveDuration('--leader-elect-renew-deadline', flags.leaderElectRenewDeadline),
    retryPeriodMs: positiveDuration('--leader-elect-retry-period', flags.leaderElectRetryPeriod),
  });
}

function leaseNameFlag({ leaderElectResourceName: name }: ElectionFlags): string | undefined {
  if (name === undefined || isDnsSubdomain(name)) return name;
  throw wrongValue('--leader-elect-resource-name', name, 'a DNS subdomain, such as berth-fleet');
}

/** Names of objects are DNS subdomains (apimachinery validation.DNS1123SubdomainMaxLength). */
const MAX_CHARS = 253;

/**
 * The Lease of a controller that follows these sources: `berth-` and their names in alphabetical order with dots between them, or a digest
 * of that where it is too long. Controllers with other sources have another one; two with the same would write the same ApplySets.
 */
function leaseNameOf(digest: Digest, sources: readonly string[]): string {
  const names = [...sources].sort().join('.');
  const name = `berth-${names}`;
  return name.length <= MAX_CHARS ? name : `berth-${digest(names).slice(0, 16)}`;
}

/**
 * The Lease in which the controller says what it writes. The name stays the same after a restart, and differs for other
 * controllers: replicas share the Lease of their election, and others have a machine and a data directory.
 */
export function announcementOf(
  dataDir: string,
  lease: string | undefined,
): NonNullable<ServeOptions['announcement']> {
  const name = announcementName(lease ?? `${hostname()}\n${dataDir}`);
  return { name, identity: `${hostname()}_${randomUUID()}` };
}

export function announcementName(what: string): string {
  return `berth-controller-${sha256(what).slice(0, 12)}`;
}
