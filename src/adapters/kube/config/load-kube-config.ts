import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newClusters, newContexts, newUsers } from '@kubernetes/client-node/dist/config_types.js';
import { load } from 'js-yaml';
import { errorText, InputError } from '../../../core/errors.ts';
import { inClusterConfig, isInCluster } from './in-cluster-config.ts';
import { KubeConfig, type KubeConfigParts } from './kube-config.ts';

/** Where the address and the credentials come from. `{}`: KUBECONFIG, ~/.kube/config, then the pod's service account. */
export type KubeConfigSource = {
  readonly file?: string | undefined;
  readonly text?: string | undefined;
  readonly inCluster?: boolean | undefined;
  /** Name of a context; absent: current-context. */
  readonly context?: string | undefined;
};

/** @throws InputError when it cannot be read or names no usable cluster. */
export function loadKubeConfig(source: KubeConfigSource): KubeConfig {
  const subject = source.file ?? (source.inCluster === true ? 'in-cluster configuration' : 'kubeconfig');
  const parts = readParts(source, subject);
  if (parts === undefined)
    throw new InputError(
      'is not there: KUBECONFIG is not set, there is no ~/.kube/config, and this is no pod',
      {
        code: 'kubeconfig.invalid',
        subject,
        hint: HINT,
      },
    );
  const config = new KubeConfig({ ...parts, currentContext: source.context ?? parts.currentContext });
  requireCluster(config, subject);
  return config;
}

const HINT = 'give a kubeconfig file with --kubeconfig, or set KUBECONFIG';

/** Undefined: nothing was named, and there is nothing where one would look. */
function readParts(source: KubeConfigSource, subject: string): KubeConfigParts | undefined {
  try {
    if (source.text !== undefined) return parseParts(source.text);
    if (source.file !== undefined) return readFiles([source.file]);
    return source.inCluster === true ? inClusterConfig() : findParts();
  } catch (cause) {
    // A YAML error goes on with the lines around it, credentials among them.
    const [problem] = errorText(cause).split('\n', 1);
    throw new InputError(`cannot be read: ${problem}`, {
      code: 'kubeconfig.invalid',
      subject,
      hint: HINT,
      cause,
    });
  }
}

function findParts(): KubeConfigParts | undefined {
  const named = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  if (named.length > 0) return readFiles(named);
  // Not os.homedir(): it throws in a pod whose user is in no passwd file.
  const { HOME: home = process.env['USERPROFILE'] ?? '' } = process.env;
  const usual = path.join(home, '.kube', 'config');
  if (home !== '' && existsSync(usual)) return readFiles([usual]);
  return isInCluster() ? inClusterConfig() : undefined;
}

/** Of what several files say of one name, the first counts, as it does for kubectl. */
function readFiles(files: readonly string[]): KubeConfigParts {
  const all = files.map((file) =>
    withAbsolutePaths(parseParts(readFileSync(file, 'utf8')), path.dirname(file)),
  );
  return {
    clusters: all.flatMap(({ clusters }) => clusters),
    users: all.flatMap(({ users }) => users),
    contexts: all.flatMap(({ contexts }) => contexts),
    currentContext: all.find(({ currentContext }) => Boolean(currentContext))?.currentContext,
  };
}

function parseParts(text: string): KubeConfigParts {
  const document = load(text) as Readonly<Record<string, unknown>> | null | undefined;
  if (typeof document !== 'object' || document === null) throw new Error('it is no YAML mapping');
  return {
    clusters: newClusters(document['clusters']),
    users: newUsers(document['users']),
    contexts: newContexts(document['contexts']),
    currentContext: document['current-context'] as string | undefined,
  };
}

/** Files named in a kubeconfig are beside it. */
function withAbsolutePaths(parts: KubeConfigParts, folder: string): KubeConfigParts {
  for (const cluster of parts.clusters)
    if (cluster.caFile) cluster.caFile = path.resolve(folder, cluster.caFile);
  for (const user of parts.users) {
    if (user.certFile) user.certFile = path.resolve(folder, user.certFile);
    if (user.keyFile) user.keyFile = path.resolve(folder, user.keyFile);
  }
  return parts;
}

function requireCluster(config: KubeConfig, subject: string): void {
  const { currentContext, contexts } = config;
  const known = contexts.map(({ name }) => name);
  if (currentContext === undefined || !known.includes(currentContext))
    throw new InputError(
      `has no context "${currentContext}", expected one of: ${known.join(', ') || '(none)'}`,
      {
        code: 'kubeconfig.context',
        subject,
      },
    );
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server))
    throw new InputError(
      `context "${currentContext}" needs a cluster with a server URL, got ${JSON.stringify(server ?? null)}`,
      { code: 'kubeconfig.cluster', subject },
    );
}
