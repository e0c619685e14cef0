import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Reflector } from '@berth/kube/cache/reflector';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import { type RotatedCredentials, RotatingKubeConfig } from '@berth/kube/config/rotating-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { secretTexts } from '@berth/kube/secret-texts';
import type { Clock } from '@berth/runtime/clock/clock';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText } from '@berth/runtime/errors';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { onAbort, sleep, WaitList } from '@berth/runtime/loop/sleep';

/** Where the cluster's agent has put the access of an add-on to the hub. */
export type HubCredentials =
  /** The folder in which the pod of the add-on has the Secret mounted, e.g. `/managed/hub-kubeconfig`. */
  | { readonly folder: string }
  /** The Secret `NAME-hub-kubeconfig` itself, for an agent without mounts, which may get, list and watch it. */
  | { readonly cluster: KubeApi; readonly namespace: string; readonly name: string };

export interface HubClientOptions {
  readonly from: HubCredentials;
  /** Ends the wait for the Secret, and closes the client. */
  readonly signal: AbortSignal;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Gets what the agent waits for. Default: none. */
  readonly log?: Logger | undefined;
}

export interface HubClient {
  /** The hub, with the rights of this add-on of this cluster. */
  readonly hub: KubeApi;
  /** The namespace of the cluster on the hub. Undefined: an agent of OCM before 0.14 made the Secret, which has no `cluster-name`. */
  readonly clusterName: string | undefined;
}

/**
 * Waits until the add-on has its access to the hub, and returns a client with it. The client goes on when the
 * certificate, or the token, rotates. A cluster that moves to another hub gets a Secret with another address: then
 * the agent has to ask for another client.
 * @throws the reason of the signal when it aborts before the access is there
 */
export async function hubClient(options: HubClientOptions): Promise<HubClient> {
  const { from, signal, clock = systemClock, log = SILENT_LOG } = options;
  const given = { signal, clock, log };
  const found = 'folder' in from ? await fromFolder(from.folder, given) : await fromSecret(from, given);
  const hub = new HttpKubeApi({ config: found.config, clock, userAgent: 'addon-agent' });
  onAbort(signal, () => hub.close());
  return { hub, clusterName: found.clusterName };
}

interface FoundAccess {
  readonly config: KubeConfig;
  readonly clusterName: string | undefined;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

const FOLDER_RETRY_MS = 1_000;

/** The certificate is read from its file again for each new connection. */
async function fromFolder(folder: string, { signal, clock, log }: Waiting): Promise<FoundAccess> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const config = loadKubeConfig({ file: join(folder, 'kubeconfig') });
      await config.credentials({ clock });
      const clusterName = await readFile(join(folder, 'cluster-name'), 'utf8').catch(() => undefined);
      return { config, clusterName: clusterName?.trim() || undefined };
    } catch (error) {
      log.info('the add-on has no access to the hub yet', { folder, problem: errorText(error) });
      await sleep(clock, FOLDER_RETRY_MS, signal);
    }
  }
}

async function fromSecret(
  { cluster, namespace, name }: Exclude<HubCredentials, { readonly folder: string }>,
  { signal, clock, log }: Waiting,
): Promise<FoundAccess> {
  const place = `${namespace}/${name}`;
  const following = { kind: SECRET, namespace, fieldSelector: `metadata.name=${name}` };
  const secrets = new Reflector({ api: cluster, ...following, clock, log, random: Math.random });
  const changes = new WaitList();
  let config: RotatingKubeConfig | undefined;
  let clusterName: string | undefined;
  secrets.store.onChange(({ after }) => {
    const files: Files = after === undefined ? {} : secretTexts(after);
    const credentials = credentialsOf(files);
    // A Secret that is deleted, or half written, comes back; until then the old credentials are the best ones.
    if (credentials === undefined || files['kubeconfig'] === undefined) return;
    try {
      config?.rotate(credentials);
      config ??= new RotatingKubeConfig(parseKubeconfig(files['kubeconfig'], '/'), credentials);
      clusterName ??= files['cluster-name']?.trim() || undefined;
      changes.wake();
    } catch (error) {
      log.warn('the kubeconfig of the add-on cannot be used', { Secret: place, problem: errorText(error) });
    }
  });
  void secrets.whenSynced(signal).then(() => {
    if (config === undefined && !signal.aborted)
      log.info('the add-on has no access to the hub yet', { Secret: place });
  });
  // It never rejects, and runs as long as the client is used.
  void secrets.run(signal);
  await changes.until(() => config !== undefined, signal);
  signal.throwIfAborted();
  return { config: config as unknown as RotatingKubeConfig, clusterName };
}

/** Of a Secret, by name. */
type Files = Readonly<Record<string, string | undefined>>;

function credentialsOf({
  'tls.crt': certPem,
  'tls.key': keyPem,
  token,
}: Files): RotatedCredentials | undefined {
  if (certPem && keyPem) return { certPem, keyPem };
  return token ? { token } : undefined;
}
