import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export interface KustomizeInput {
  /** Folder of the kustomization, relative to the repository. */
  readonly folder: string;
  /** Everything it may read: repository path to content. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

export type KustomizeResult =
  | { readonly ok: true; readonly text: string }
  /** `no-kubectl`: there is no program to render with. */
  | { readonly ok: false; readonly reason: 'no-kubectl' | 'failed'; readonly message: string };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * Renders a kustomization with the kustomize inside kubectl, in a folder of its own that holds nothing but the given
 * files: no cluster, no home, no plugins, no Helm, and nothing that git may fetch.
 */
export async function kubectlKustomize({ folder, files, ambient }: KustomizeInput): Promise<KustomizeResult> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'berth-kustomize-'));
  try {
    for (const [file, content] of files) {
      const target = path.join(root, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    }
    return await render(root, folder, ambient['PATH'] ?? '');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function render(root: string, folder: string, searchPath: string): Promise<KustomizeResult> {
  const environment = {
    PATH: searchPath,
    HOME: root,
    KUBECONFIG: '/dev/null',
    GIT_ALLOW_PROTOCOL: 'none',
    LC_ALL: 'C',
  };
  const options = { cwd: root, env: environment, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile('kubectl', ['kustomize', path.join(root, folder)], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ ok: true, text: stdout });
      if (error.code === 'ENOENT')
        return resolve({ ok: false, reason: 'no-kubectl', message: 'kubectl is not installed' });
      // The temporary folder means nothing to the reader of the message.
      const said = (stderr.trim() || error.message).replaceAll(`${root}/`, '').replaceAll(root, '.');
      resolve({ ok: false, reason: 'failed', message: said.replace(/^error: /, '').slice(0, 1000) });
    });
  });
}
