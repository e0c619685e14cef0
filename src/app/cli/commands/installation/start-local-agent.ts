import path from 'node:path';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AGENT_ACCOUNT } from '../../../../core/rbac/agent-rbac.ts';
import { HUB_KUBECONFIG_SECRET } from '@berth/ocm/registration/names';
import { runningPid, logOf, startBackground, writePrivate } from '../../../background/background-process.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import { accountKubeconfig, serverEntry } from './account-kubeconfig.ts';
import { agentFolder } from './agent-installation.ts';
import type { JoinFlags } from './join-flags.ts';

interface AgentHere {
  readonly flags: JoinFlags;
  /** Options of `berth agent`. */
  readonly options: readonly string[];
  readonly clusterName: string;
  readonly namespace: string;
  /** The text of a kubeconfig. */
  readonly bootstrap: string;
  /** The kubeconfig of the managed cluster, if the agent is hosted. */
  readonly managedText: string | undefined;
}

/**
 * Starts the agent on this machine, with the account that was created for it.
 * @param api of the cluster, which runs no pods
 * @returns the folder of the agent; undefined if the command was only printed
 */
export async function startLocalAgent(
  io: CliIo,
  api: KubeApi,
  agent: AgentHere,
): Promise<string | undefined> {
  const { flags, options, clusterName, namespace, bootstrap, managedText } = agent;
  const folder = agentFolder(io, clusterName, { server: api.server, namespace });
  const kubeconfig = await accountKubeconfig(
    api,
    { namespace, name: AGENT_ACCOUNT },
    await serverEntry(io, flags),
  );
  writePrivate(folder, 'bootstrap.kubeconfig', bootstrap);
  writePrivate(folder, 'cluster.kubeconfig', kubeconfig);
  if (managedText !== undefined) writePrivate(folder, 'managed.kubeconfig', managedText);
  const entry = {
    clusterName,
    bootstrapKubeconfig: 'bootstrap.kubeconfig',
    hubKubeconfigSecret: `${namespace}/${HUB_KUBECONFIG_SECRET}`,
    ...(managedText === undefined
      ? { kubeconfig: 'cluster.kubeconfig' }
      : { kubeconfig: 'managed.kubeconfig', hostingKubeconfig: 'cluster.kubeconfig' }),
  };
  writePrivate(folder, 'agent.yaml', await renderDocument([entry], 'yaml'));
  const args = ['agent', `--clusters=${path.join(folder, 'agent.yaml')}`, ...options];
  if (!flags.start) {
    io.stdout.write(
      `The cluster runs no pods: run its agent on this machine.\n\n    berth ${args.join(' ')}\n`,
    );
    return undefined;
  }
  const running = runningPid(folder);
  const pid = startBackground({ folder, args, env: io.env });
  const how = running === undefined ? 'runs' : 'runs already';
  io.stdout.write(
    `The cluster runs no pods: its agent ${how} on this machine as process ${String(pid)}, log ${logOf(folder)}\n`,
  );
  return folder;
}
