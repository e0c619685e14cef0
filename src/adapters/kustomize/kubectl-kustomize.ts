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
/** The port of the discard service. */
const NOWHERE = 'http://127.0.0.1:9';

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
    // Not the folder: git, which kustomize may start, would take a .gitconfig of the repository for its user's.
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    KUBECONFIG: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ALLOW_PROTOCOL: 'none',
    // Nobody listens there: whatever it may still want to fetch, it does not reach.
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '',
    LC_ALL: 'C',
  };
  const options = { cwd: root, env: environment, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile('kubectl', ['kustomize', path.join(root, folder)], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ ok: true, text: stdout });
      if (error.code === 'ENOENT')
        return resolve({ ok: false, reason: 'no-kubectl', message: 'kubectl is not installed' });
      // The temporary folder means nothing to the reader of the message.
      const said = problemIn(stderr.trim() || error.message)
        .replaceAll(`${root}/`, '')
        .replaceAll(root, '.');
      resolve({ ok: false, reason: 'failed', message: said.replaceAll(/\s*\n\s*/g, ' ').slice(0, 1000) });
    });
  });
}

/** Without the time and process id that kubectl puts before some of its errors: the same problem has the same text every time. */
function problemIn(said: string): string {
  const logged = /^[EF]\d{4} [^\n]*\] "command failed" err=(?:("(?:[^"\\]|\\.)*")$|<\n([^]*?)\n >)/m.exec(
    said,
  );
  if (logged === null) return said.replace(/^error: /, '');
  const [, quoted, lines] = logged;
  if (lines !== undefined) return lines.trim();
  try {
    return JSON.parse(quoted ?? '') as string;
  } catch {
    return quoted ?? said; // Go escapes a few characters in other ways
  }
}
