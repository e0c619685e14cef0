import { readFile } from 'node:fs/promises';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { InputError } from '@berth/runtime/errors';
import {
  BOOTSTRAP_ACCOUNT,
  joinCommand,
  type JoinTicket,
  joinTicketValue,
  REPLACE_THE_NAME,
  type ServerEntry,
  tokenKubeconfig,
} from '../../../../core/registration/install/bootstrap-objects.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { refuseFlags } from '../../flags/option-values.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';

interface TokenFlags extends HubFlags {
  readonly output: OutputFormat | 'text';
}

/** Lifetime of the token, as in clusteradm. The agent needs it until it has a certificate. */
const TOKEN_SECONDS = 3_600;

export const NO_BOOTSTRAP_TOKENS =
  'clusters join with tokens of a service account, which every hub since Kubernetes 1.22 can issue';

const HELP = `
The token is valid for an hour. It only allows a cluster to ask to join: a person accepts it on the hub. The hash is
that of the public key of the hub’s authority: the cluster sends the token to no other server.

Exit codes: 0 printed, 1 error.

Examples:
  berth get token --context hub
  berth get token -o json
`;

export const getTokenCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'get', 'list objects of the hub')
      .command('token')
      .description('print a token, and the command that makes a cluster join')
      .addOption(outputOption('text'));
    refuseFlags(addHubFlags(command), { 'use-bootstrap-token': NO_BOOTSTRAP_TOKENS })
      .addHelpText('after', HELP)
      .action(run((io, flags: TokenFlags) => getToken(io, flags)));
  },
};

async function getToken(io: CliIo, flags: TokenFlags): Promise<ExitCode> {
  const ticket = await withHub(io, flags, (hub) => joinTicket(io, hub, flags));
  const { output } = flags;
  if (output === 'json' || output === 'yaml')
    io.stdout.write(await renderDocument(joinTicketValue(ticket), output));
  else
    io.stdout.write(
      `token=${ticket.token}\nLog on to the cluster and run:\n${joinCommand(ticket)}\n${REPLACE_THE_NAME}\n`,
    );
  return 0;
}

/**
 * The address of the hub in the command. A loopback address leads pods to themselves, so the one in the EndpointSlice of
 * the API server takes its place where the hub runs pods: clusters in the same network reach it.
 */
async function addressForPods(io: CliIo, hub: KubeApi & ServerEndpoints): Promise<string> {
  const { isLoopbackHost } = await import('@berth/runtime/loopback-host');
  if (!isLoopbackHost(new URL(hub.server).hostname)) return hub.server;
  const { runsPods, apiServerEndpoint } = await import(
    '../../../../controllers/installation/installed-state.ts'
  );
  const server = (await runsPods(hub)) ? await apiServerEndpoint(hub) : undefined;
  if (server === undefined) return hub.server;
  io.stderr.write(
    `the kubeconfig names ${hub.server}, which pods cannot reach: the command names ${server}, from the EndpointSlice default/kubernetes\n`,
  );
  return server;
}

/** @throws InputError when `berth init` has not been run on the hub */
export async function joinTicket(
  io: CliIo,
  hub: KubeApi & ServerEndpoints,
  flags: HubFlags,
): Promise<JoinTicket> {
  const { requestToken } = await import('@berth/kube/request-token');
  const { authorityHashes } = await import('../../../../controllers/installation/find-hub-entry.ts');
  try {
    const token = await requestToken(hub, BOOTSTRAP_ACCOUNT, TOKEN_SECONDS);
    const { caData = '' } = await serverEntry(io, flags);
    const server = await addressForPods(io, hub);
    return { token, server, caHashes: authorityHashes(Buffer.from(caData, 'base64').toString()) };
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    const { namespace, name } = BOOTSTRAP_ACCOUNT;
    throw new InputError('does not exist on the hub', {
      code: 'install.not-initialized',
      subject: `ServiceAccount ${namespace}/${name}`,
      hint: 'run berth init to prepare the hub',
      cause: error,
    });
  }
}

/** Requested lifetime of a token; the server may issue a shorter one. */
const YEAR_SECONDS = 365 * 86_400;

/** The address and authority of the server in the current context of a kubeconfig. */
export async function serverEntry(io: CliIo, { kubeconfig, context }: HubFlags): Promise<ServerEntry> {
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const cluster = loadKubeConfig({ file: kubeconfig, context, env: io.env }).getCurrentCluster();
  const { caFile, caData, proxyUrl, server = '' } = cluster ?? {};
  const read = async (file: string): Promise<string> => (await readFile(file)).toString('base64');
  return { server, proxyUrl, caData: caFile === undefined ? caData : await read(caFile) };
}

/** A kubeconfig of a service account, for a process that is not a pod. */
export async function accountKubeconfig(
  api: KubeApi,
  account: { readonly namespace: string; readonly name: string },
  entry: ServerEntry,
): Promise<string> {
  const { requestToken } = await import('@berth/kube/request-token');
  const token = await requestToken(api, account, YEAR_SECONDS);
  const { name } = account;
  const names = { cluster: 'cluster', user: name, context: name };
  return `${JSON.stringify(tokenKubeconfig(names, entry, token))}\n`;
}
