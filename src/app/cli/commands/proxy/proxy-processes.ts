import { InputError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { openLog } from '../../flags/log-flags.ts';
import { listenAddress, wholeNumber, wrongOption, wrongValue } from '../../flags/option-values.ts';
import { packageVersion } from '../version.ts';
import type { AgentFlags, ServeFlags } from './proxy-flags.ts';

/** As many servers as an agent looks for. */
const MOST_REPLICAS = 100;

/** @throws InputError for wrong flags, or if it cannot listen */
export async function serveProxy(io: CliIo, flags: ServeFlags): Promise<ExitCode> {
  const { publicUrl, agentAddress, namespace } = flags;
  const replicas = wholeNumber('--replicas', flags.replicas, 1, MOST_REPLICAS);
  const log = await openLog(io, flags);
  const users = listenAddress('--listen', flags.listen);
  const agents = listenAddress('--agent-listen', flags.agentListen);
  if (publicUrl !== undefined && !/^https:\/\/[^\s/?#@]+$/.test(publicUrl))
    throw wrongValue('--public-url', publicUrl, 'a URL such as https://clusters.example.com');
  if (agentAddress !== undefined && !/^[^\s/]+:\d+$/.test(agentAddress))
    throw wrongValue('--agent-address', agentAddress, 'HOST:PORT');
  for (const [flag, other, { host }] of [
    ['--listen', publicUrl && '--public-url', users],
    ['--agent-listen', agentAddress && '--agent-address', agents],
  ] as const)
    if (other === undefined && ['', '0.0.0.0', '::'].includes(host))
      throw wrongOption(flag, 'is for every address of this machine, so say which one others use');
  if (replicas > 1 && (publicUrl === undefined || agentAddress === undefined))
    throw wrongOption('--replicas', 'needs --public-url and --agent-address, which lead to each of them');
  const image = flags.image ?? `berth:${await packageVersion()}`;
  const { startAccessServer } = await import('@berth/access/server/run-access-server');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  await withHub(io, flags, async (hub) => {
    const { ended, ...at } = await startAccessServer({
      ...{ hub, namespace, users, agents, publicUrl, agentAddress, image, replicas },
      ...{ clock, random: Math.random, log, signal: io.signal },
    }).catch((error: unknown) => {
      throw isMissing(error) ? noNamespace(namespace, error) : error;
    });
    log.info('the user server and the tunnel are open', { hub: hub.server, ...at });
    await ended;
  });
  return 0;
}

function isMissing(error: unknown): boolean {
  return error instanceof InputError && error.code === 'kube.notfound';
}

function noNamespace(namespace: string, cause: unknown): InputError {
  return new InputError('is not on the hub', {
    ...{ code: 'access.namespace', subject: `namespace ${namespace}`, cause },
    hint: 'create it, or name another one with --namespace',
  });
}

/** The cluster's end of the tunnel, until a signal. */
export async function runProxyAgent(
  io: CliIo,
  { kubeconfig, context, namespace, ...flags }: AgentFlags,
): Promise<ExitCode> {
  const log = await openLog(io, flags);
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const { HttpKubeApi } = await import('@berth/kube/http-kube-api');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { runAccessAgent } = await import('@berth/access/agent/run-access-agent');
  const config = loadKubeConfig({ file: kubeconfig, context, env: io.env });
  const cluster = new HttpKubeApi({ config, clock });
  try {
    await runAccessAgent({ cluster, config, namespace, clock, random: Math.random, log, signal: io.signal });
  } finally {
    cluster.close();
  }
  return 0;
}
