import yaml from 'js-yaml';
import { InputError, TransientError } from '../../core/errors.ts';
import { CONFIG_MAP } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { ServerEntry } from '../../core/registration/install/token-kubeconfig.ts';

export interface HubLookup {
  readonly server: string;
  /** PEM. Absent: the hub says it. */
  readonly caPem?: string | undefined;
  readonly proxyUrl?: string | undefined;
  /** PEM: authority of the proxy, and of nothing else. */
  readonly proxyCaPem?: string | undefined;
  /** Whether the address that clusters use is the one in the hub's `kube-public/cluster-info`. */
  readonly internal: boolean;
  /** A client that sends the token of the cluster. It frees its connections after `use`. */
  readonly ask: <T>(entry: ServerEntry, use: (hub: KubeApi) => Promise<T>) => Promise<T>;
  /** Told once when the hub itself said which authority it has. */
  readonly tellTrusted: () => void;
}

const NAMESPACE = 'kube-public';
const ROOT_CA = 'kube-root-ca.crt';
const CLUSTER_INFO = 'cluster-info';

/**
 * How clusters reach a hub whose address is given. An authority that nobody names is taken from the hub, unless the machine trusts its
 * certificate anyway: a machine between the two could give another one, and would have the token.
 * Source: open-cluster-management.io/clusteradm `pkg/helpers/client.go` and `pkg/cmd/join`.
 * @throws InputError `join.token` when the hub does not know the token; `join.cluster-info`; what the API throws
 */
export async function findHubEntry(lookup: HubLookup): Promise<ServerEntry> {
  const { server, proxyUrl } = lookup;
  const caPem = lookup.caPem ?? (await authorityOf(lookup));
  const entry = withAuthorities({ server, proxyUrl }, caPem, lookup.proxyCaPem);
  if (!lookup.internal) {
    await asked(lookup, entry, ROOT_CA);
    return entry;
  }
  const text = (await asked(lookup, entry, CLUSTER_INFO))?.['kubeconfig'];
  const internal = text === undefined ? undefined : clusterIn(text);
  if (internal?.server !== undefined) return { ...entry, server: internal.server };
  throw new InputError(`names no server, expected a kubeconfig with the address that clusters use`, {
    code: 'join.cluster-info',
    subject: `ConfigMap ${NAMESPACE}/${CLUSTER_INFO}`,
    hint: 'without --force-internal-endpoint-lookup the address of --hub-apiserver is used',
  });
}

function withAuthorities(entry: ServerEntry, ...pems: readonly (string | undefined)[]): ServerEntry {
  const given = pems.filter((pem) => pem !== undefined).map((pem) => pem.trim());
  if (given.length === 0) return entry;
  return { ...entry, caData: Buffer.from(`${given.join('\n')}\n`).toString('base64') };
}

/** PEM; undefined when the machine trusts the hub. */
async function authorityOf(lookup: HubLookup): Promise<string | undefined> {
  const { server, proxyUrl, proxyCaPem, tellTrusted } = lookup;
  try {
    await asked(lookup, withAuthorities({ server, proxyUrl }, proxyCaPem), ROOT_CA);
    return undefined;
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
  }
  const entry: ServerEntry = { server, proxyUrl, insecure: true };
  const info = (await asked(lookup, entry, CLUSTER_INFO))?.['kubeconfig'];
  const data = info === undefined ? undefined : clusterIn(info)?.['certificate-authority-data'];
  const pem =
    data === undefined
      ? (await asked(lookup, entry, ROOT_CA))?.['ca.crt']
      : Buffer.from(data, 'base64').toString('utf8');
  if (pem === undefined)
    throw new InputError('says nowhere which authority signed its certificate', {
      code: 'join.authority',
      subject: server,
      hint: `give it with --ca-file; looked for in the ConfigMaps ${CLUSTER_INFO} and ${ROOT_CA} of ${NAMESPACE}`,
    });
  tellTrusted();
  return pem;
}

type Texts = Readonly<Record<string, string | undefined>>;

/** The data of a ConfigMap; undefined without it, or without the right to read it. */
async function asked(lookup: HubLookup, entry: ServerEntry, name: string): Promise<Texts | undefined> {
  try {
    const key = { namespace: NAMESPACE, name };
    const found = await lookup.ask(entry, (hub) => hub.get(CONFIG_MAP, key));
    return found?.['data'] as Texts | undefined;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // It knows the token, and keeps its ConfigMaps to itself.
    if (error.code === 'kube.forbidden') return undefined;
    if (error.code !== 'kube.unauthorized') throw error;
    throw new InputError('the hub does not know it', {
      code: 'join.token',
      subject: '--hub-token',
      hint: 'tokens end after an hour; berth get token makes another one, on the hub',
      cause: error,
    });
  }
}

/** The first cluster of a kubeconfig, which may have no context. */
function clusterIn(text: string): Texts | undefined {
  const config = yaml.load(text, { schema: yaml.FAILSAFE_SCHEMA }) as {
    readonly clusters?: readonly { readonly cluster?: Texts }[];
  } | null;
  return config?.clusters?.[0]?.cluster;
}
