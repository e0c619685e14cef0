import { checkTiming, DEFAULT_TIMING, type ElectionTiming } from '@berth/kube/leader-election/lease';
import type { Command } from 'commander';
import { sha256 } from '@berth/runtime/sha256';
import { isDnsSubdomain } from '@berth/kube/model/selector/label-syntax';
import { leaseNameOf } from '../../../../core/sync/lease-name.ts';
import { positiveDuration, wrongValue } from '../../flags/option-values.ts';

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

export interface ElectionSettings {
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
