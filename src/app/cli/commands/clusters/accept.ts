import { Option } from 'commander';
import { ConflictError, InputError, TransientError } from '@berth/runtime/errors';
import { printable } from '@berth/runtime/text/printable';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { sleep } from '@berth/runtime/loop/sleep';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { durationOrSeconds, clusterNames } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';

interface AcceptFlags extends HubFlags {
  readonly clusters?: string;
  readonly cluster?: string;
  readonly requesters?: string;
  readonly skipApproveCheck: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly dryRun: boolean;
}

const HELP = `
Exit codes: 0 accepted, 1 error: nothing was written, or a cluster has no approved certificate request.

Examples:
  berth accept --clusters cluster1
  berth accept --clusters cluster1,cluster2 --wait          # may start before their agents ask
  berth accept --clusters cluster1 --requesters system:open-cluster-management:cluster1:x7k2p

The command approves requests of the agent of the cluster that a bootstrap user made. If several agents request a
certificate for one cluster, it approves none until --requesters names the right agent. While an agent of the cluster
is alive, a request of another agent also needs --requesters.
`;

/** `berth accept`: accepts clusters and approves their certificate requests. */
export const acceptCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('accept')
      .description('let clusters join: accept them, and approve the certificate requests of their agents')
      .option('-c, --clusters <names>', 'managed clusters, separated by commas')
      .addOption(new Option('--cluster <names>', 'the same').hideHelp())
      .option('--requesters <users>', 'approve only requests of these agent users')
      .option('--skip-approve-check', 'also approve requests of users that are not bootstrap users', false)
      .option('--wait', 'wait for the clusters and their requests', false)
      .option('--timeout <duration>', 'how long --wait waits: a duration, or seconds', '5m')
      .option('--dry-run', 'print what would be done, and change nothing', false);
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: AcceptFlags) => accept(io, flags)));
  },
};

const CHECK_INTERVAL_MS = 1_000;

async function accept(io: CliIo, flags: AcceptFlags): Promise<ExitCode> {
  const clusters = clusterNames('--clusters', flags.clusters ?? flags.cluster ?? '');
  const { timeout } = flags;
  const timeoutMs = durationOrSeconds('--timeout', timeout);
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const { readCluster } = await import('../../../../controllers/registration/accept-cluster.ts');
  await withHub(io, flags, async (hub) => {
    // A missing cluster is an error before anything is approved.
    if (!flags.wait) for (const cluster of clusters) await readCluster(hub, cluster);
    const deadlineMs = systemClock.now() + timeoutMs;
    for (const cluster of clusters) await acceptOne(io, hub, cluster, { ...flags, deadlineMs });
  });
  return 0;
}

/** @throws InputError when no request is approved before the deadline */
async function acceptOne(
  io: CliIo,
  hub: KubeApi,
  cluster: string,
  flags: AcceptFlags & { readonly deadlineMs: number },
): Promise<void> {
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const { acceptCluster } = await import('../../../../controllers/registration/accept-cluster.ts');
  const { dryRun, wait, deadlineMs, skipApproveCheck: skipsRequesterCheck } = flags;
  const requesters = (flags.requesters ?? '').split(',').filter((user) => user !== '');
  const note = dryRun ? ' (dry run)' : '';
  const printed = new Set<string>();
  const print = (line: string): void => {
    if (!printed.has(line)) io.stdout.write(`${printable(line)}${note}\n`);
    printed.add(line);
  };
  print(`Starting approve csrs for the cluster ${cluster}`);
  for (;;) {
    const nowMs = systemClock.now();
    const mayWait = wait && nowMs < deadlineMs && !io.signal.aborted;
    try {
      const rules = { cluster, requesters, skipsRequesterCheck };
      const { lines, hasCertificate } = await acceptCluster(hub, rules, { nowMs, dryRun });
      lines.forEach(print);
      if (hasCertificate) break;
      if (!mayWait)
        throw new InputError(`no CSR is approved yet for cluster ${cluster}`, {
          code: 'accept.no-request',
          subject: `ManagedCluster ${cluster}`,
          hint: 'its agent has not asked yet, or the lines above say why nothing is approved; --wait waits',
        });
    } catch (error) {
      if (!mayWait || !isWorthWaiting(error)) throw error;
    }
    await sleep(systemClock, CHECK_INTERVAL_MS, io.signal);
  }
  print(`Managed cluster ${cluster} is accepted: its agent joins with the certificate`);
}

/** Errors that are retried: the cluster does not exist yet, the hub does not respond, or a conflict. */
function isWorthWaiting(error: unknown): boolean {
  if (error instanceof InputError) return error.code === 'kube.notfound';
  return error instanceof TransientError || error instanceof ConflictError;
}
