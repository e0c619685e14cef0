import { readToken } from '@berth/kube/account-token';
import { SECRET } from '@berth/kube/model/kinds';
import { secretTexts } from '@berth/kube/secret-texts';
import { InputError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import type { CliCommand } from '../cli-command.ts';

interface CredentialsFlags extends HubFlags {
  readonly managedServiceaccount: string;
}

/** What a client gives to its exec plugin. Source: kubernetes `client.authentication.k8s.io/v1`, ExecCredential. */
interface ExecInfo {
  readonly apiVersion?: string;
  readonly spec?: { readonly cluster?: { readonly config?: { readonly clusterName?: unknown } } };
}

const IN_POD = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const HELP = `
A plugin for clients that know a cluster by its ClusterProfile, as cp-creds of OCM: it reads KUBERNETES_EXEC_INFO, and prints
the token of the account in that cluster, which berth accounts serve --cluster-profiles has copied to the namespace. That
is the variable NAMESPACE, else the pod's, else the one of the kubeconfig.

Exit codes: 0 printed, 1 error.

Examples:
  berth credentials --managed-serviceaccount deployer   # as command of an exec plugin
`;

export const credentialsCommand: CliCommand = {
  register(program, run) {
    addHubFlags(
      program
        .command('credentials')
        .description('print a token for a cluster, as an exec plugin of Kubernetes clients')
        .requiredOption('--managed-serviceaccount <name>', 'the account in the cluster')
        .addHelpText('after', HELP),
    ).action(run((io, flags: CredentialsFlags) => printCredentials(io, flags)));
  },
};

async function printCredentials(io: CliIo, flags: CredentialsFlags): Promise<ExitCode> {
  const { apiVersion, cluster } = execInfo(io.env['KUBERNETES_EXEC_INFO']);
  const namespace = await namespaceOf(io, flags);
  const name = `${cluster}-${flags.managedServiceaccount}`;
  const subject = `Secret ${namespace}/${name}`;
  const secret = await withHub(io, flags, (hub) => hub.get(SECRET, { namespace, name }));
  // The name of another cluster's copy may be the same.
  const isOfCluster = secret?.metadata.ownerReferences?.some(
    (owner) => owner.kind === 'ClusterProfile' && owner.name === cluster,
  );
  const { token } = secret === undefined ? {} : secretTexts(secret);
  if (token === undefined || isOfCluster !== true)
    throw new InputError(`has no token of the cluster ${cluster}`, {
      ...{ code: 'access.no-copy', subject },
      hint: 'the ManagedServiceAccount needs the label authentication.open-cluster-management.io/sync-to-clusterprofile=true',
    });
  const expiresAtMs = readToken(token)?.expiresAtMs;
  const status = {
    token,
    ...(expiresAtMs !== undefined && { expirationTimestamp: new Date(expiresAtMs).toISOString() }),
  };
  io.stdout.write(`${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\n`);
  return 0;
}

function execInfo(text: string | undefined): { readonly apiVersion: string; readonly cluster: string } {
  let info: ExecInfo | undefined;
  try {
    info = JSON.parse(text ?? '') as ExecInfo;
  } catch {
    // The error below says it.
  }
  const cluster = info?.spec?.cluster?.config?.clusterName;
  if (typeof cluster === 'string' && cluster !== '')
    return { apiVersion: info?.apiVersion ?? 'client.authentication.k8s.io/v1', cluster };
  throw new InputError('names no cluster in spec.cluster.config.clusterName', {
    ...{ code: 'access.exec-info', subject: 'KUBERNETES_EXEC_INFO' },
    hint: 'a client sets it for its exec plugin, with provideClusterInfo: true',
  });
}

async function namespaceOf(io: CliIo, { kubeconfig: file, context }: HubFlags): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const given = io.env['NAMESPACE']?.trim() || (await readFile(IN_POD, 'utf8').catch(() => '')).trim();
  if (given !== '') return given;
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const config = loadKubeConfig({ file, context, env: io.env });
  const current = config.contexts.find(({ name }) => name === config.currentContext);
  return current?.namespace || 'default';
}
