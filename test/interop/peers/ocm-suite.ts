import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAvailable } from '@berth/test-kit/needed-program';
import { peerProgram } from './peer-programs.ts';

/** The modules whose tests the suites are, and whose definitions they read. */
const OCM = 'open-cluster-management.io/ocm@v1.2.1';
const API = 'open-cluster-management.io/api@v1.2.0';

export type SuiteName = 'placement' | 'work' | 'registration' | 'addon';

/** One spec of a suite that ran: its texts from the outermost container to itself, and what went wrong. */
export interface SpecResult {
  readonly name: string;
  readonly passed: boolean;
  readonly message: string;
}

/** Part of Ginkgo's JSON report. Source: github.com/onsi/ginkgo/v2 types/types.go (`SpecReport`). */
interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly Failure?: { readonly Message: string };
}

export const suiteProgram = (name: SuiteName): string => `ocm-suites/${name}.test`;

/** Where a module is in Go's cache; undefined when Go or the module is not on this machine. Downloads nothing. */
function moduleFolder(module: string): string | undefined {
  const env = { ...process.env, GOPROXY: 'off', GOSUMDB: 'off', GOFLAGS: '-mod=mod' };
  const options = { encoding: 'utf8', env, cwd: tmpdir() } as const;
  const { status, stdout } = spawnSync('go', ['mod', 'download', '-json', module], options);
  return status === 0 ? (JSON.parse(stdout) as { readonly Dir: string }).Dir : undefined;
}

/** Whether the files that the suites read are here; says so when they are not. */
export function hasOcmModules(): boolean {
  const missing = [OCM, API].filter((module) => moduleFolder(module) === undefined);
  const problem = `${missing.join(', ')} not found in Go's module cache`;
  return isAvailable('ocm-suites', missing.length > 0 ? problem : undefined);
}

/**
 * Runs one of OCM's integration suites against the API server that the folder `assets` holds, as envtest starts it. Specs
 * that did not run are left out; a suite that could not begin or end is a result of its own.
 */
export async function runOcmSuite(name: SuiteName, assets: string): Promise<readonly SpecResult[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-suite-'));
  try {
    const report = join(dir, 'report.json');
    const env = { ...process.env, KUBEBUILDER_ASSETS: assets, TMPDIR: dir };
    // Some specs wait too short on a busy machine.
    const args = ['-ginkgo.flake-attempts=2', `-ginkgo.json-report=${report}`];
    const told = await run(peerProgram(suiteProgram(name)), args, {
      cwd: layOut(dir),
      env,
    });
    return readReport(report, told);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The suites read definitions by paths relative to a checkout: the same tree, as links into the module cache. */
function layOut(dir: string): string {
  const tree = join(dir, 'tree');
  const vendor = join(tree, 'vendor', 'open-cluster-management.io');
  mkdirSync(vendor, { recursive: true });
  for (const folder of ['test', 'manifests', 'deploy'])
    symlinkSync(join(moduleFolder(OCM) ?? '', folder), join(tree, folder));
  symlinkSync(moduleFolder(API) ?? '', join(vendor, 'api'));
  return tree;
}

/** @returns the end of what the program said; its exit code only says whether a spec failed */
function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (told = (told + chunk.toString()).slice(-LAST_CHARACTERS)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(told));
  });
}

const LAST_CHARACTERS = 4000;

function readReport(file: string, told: string): readonly SpecResult[] {
  let suites: readonly { readonly SpecReports: readonly SpecReport[] }[];
  try {
    suites = JSON.parse(readFileSync(file, 'utf8')) as typeof suites;
  } catch {
    return [{ name: 'the suite', passed: false, message: told }];
  }
  return suites.flatMap(({ SpecReports }) =>
    SpecReports.filter(({ State, LeafNodeType }) => State !== 'skipped' && isTold(LeafNodeType, State)).map(
      (spec) => ({
        name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText || spec.LeafNodeType].join(' › '),
        passed: spec.State === 'passed',
        message: spec.Failure?.Message ?? '',
      }),
    ),
  );
}

/** Set-up and tear-down are printed only when they failed. */
const isTold = (type: string, state: string): boolean => type === 'It' || state !== 'passed';
