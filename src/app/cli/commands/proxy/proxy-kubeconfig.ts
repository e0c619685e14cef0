import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { tokenKubeconfig } from '../../../../core/registration/install/bootstrap-objects.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import type { ClusterFlags } from './proxy-flags.ts';
import { userServerAccess } from './user-server-entry.ts';

export async function printKubeconfig(io: CliIo, flags: ClusterFlags): Promise<ExitCode> {
  io.stdout.write(`${await clusterKubeconfig(io, flags)}\n`);
  return 0;
}

/** As JSON, which is valid YAML. */
async function clusterKubeconfig(io: CliIo, flags: ClusterFlags): Promise<string> {
  const { cluster } = flags;
  const { entry, token } = await userServerAccess(io, flags);
  const names = { cluster, user: cluster, context: cluster };
  return JSON.stringify(
    tokenKubeconfig(names, { ...entry, server: `${entry.server}/${encodeURIComponent(cluster)}` }, token),
    undefined,
    2,
  );
}

export async function runKubectl(io: CliIo, args: readonly string[], flags: ClusterFlags): Promise<ExitCode> {
  const kubeconfig = await clusterKubeconfig(io, flags);
  // Only this user may read the folder.
  const folder = await mkdtemp(join(tmpdir(), 'berth-proxy-'));
  try {
    const file = join(folder, 'kubeconfig');
    await writeFile(file, kubeconfig, { mode: 0o600 });
    // The terminal is kubectl's, so that `exec -it` works; it also gets the signals of the terminal.
    const child = spawn('kubectl', args, { stdio: 'inherit', env: { ...io.env, KUBECONFIG: file } });
    io.signal.addEventListener('abort', () => void child.kill('SIGTERM'), { once: true });
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? 0 : 1;
  } catch (cause) {
    throw new InputError('cannot be started', {
      ...{ code: 'access.kubectl', subject: 'kubectl', cause },
      hint: 'install it, or use berth proxy kubeconfig with another program',
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
