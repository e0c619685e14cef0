import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import type { KubeConfigParts } from './kubeconfig-entries.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';

export const KUBECONFIG_HINT = 'give a kubeconfig file with --kubeconfig, or set KUBECONFIG';

/**
 * Merges the files that KUBECONFIG names, or else reads ~/.kube/config. The result is empty if there is no file.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/loader.go (ClientConfigLoadingRules.Load).
 * @throws InputError when an existing file cannot be read, or is not a kubeconfig
 */
export function mergeKubeconfigs(env: NodeJS.ProcessEnv): KubeConfigParts {
  const all = filesToLoad(env).flatMap((file) => readIfThere(file) ?? []);
  return {
    // Look-ups return the first entry with a name. Later entries with the name are ignored completely.
    clusters: all.flatMap(({ clusters }) => clusters),
    users: all.flatMap(({ users }) => users),
    contexts: all.flatMap(({ contexts }) => contexts),
    currentContext: all.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  };
}

/** ~/.kube/config is read only when KUBECONFIG is empty or not set, and not when none of the files in KUBECONFIG exist. */
function filesToLoad(env: NodeJS.ProcessEnv): readonly string[] {
  if (env['KUBECONFIG']) return env['KUBECONFIG'].split(path.delimiter).filter((file) => file !== '');
  const file = defaultKubeconfigFile(env);
  return file === undefined ? [] : [file];
}

/** The path of `~/.kube/config`; undefined if the environment names no home directory. */
export function defaultKubeconfigFile(env: NodeJS.ProcessEnv): string | undefined {
  // Not os.homedir(), which throws in a pod whose user is not in the passwd file.
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '';
  return home === '' ? undefined : path.join(home, '.kube', 'config');
}

/** Ignores only a file that does not exist, because an unreadable file may contain the first entry with a name. */
function readIfThere(file: string): KubeConfigParts | undefined {
  try {
    return readKubeconfig(file);
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    if (cause?.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @throws InputError when the file cannot be read, or is not a kubeconfig */
export function readKubeconfig(file: string): KubeConfigParts {
  return wrapUnreadable(file, () => parseKubeconfig(readFileSync(file, 'utf8'), path.dirname(file)));
}

/** @throws InputError `kubeconfig.invalid` when `read` throws */
export function wrapUnreadable<T>(subject: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // A YAML error continues with the surrounding lines, which may contain credentials.
    const [problem] = errorText(cause).split('\n', 1);
    throw new InputError(`cannot be read: ${problem}`, {
      code: 'kubeconfig.invalid',
      subject,
      hint: KUBECONFIG_HINT,
      cause,
    });
  }
}
