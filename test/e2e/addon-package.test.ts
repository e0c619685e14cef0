import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Only tests of add-ons need them. */
const FOR_TESTS = ['agent', 'embedded-hub', 'kube-cel', 'kube-jsonpath'];

const COMPILER_OPTIONS = '--strict --module nodenext --target es2023 --types node'.split(' ');

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * A project of somebody else. The packages are installed from their tarballs; what they need of others are links to the
 * modules of this checkout, so that nothing is fetched.
 */
function installInto(folder: string, tarballs: readonly string[]): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  for (const tarball of tarballs) {
    const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
    for (const name of Object.keys((JSON.parse(text) as Manifest).dependencies))
      if (!name.startsWith('@berth/')) link(folder, name);
  }
  // Without scripts: npm would build the modules that are links.
  const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...options, ...tarballs], { cwd: folder, stdio: 'pipe' });
}

function link(folder: string, name: string): void {
  const at = join(folder, 'node_modules', name);
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { force: true });
  symlinkSync(join(ROOT, 'node_modules', name), at);
}

const run = (folder: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
};

describe('the packages that `npm run pack:packages -- addon` makes', () => {
  let dir: string;
  let project: string;
  let tarballs: readonly string[];
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-addon-package-'));
    const packed = execFileSync('npm', ['run', '--silent', 'pack:packages', '--', 'addon'], { cwd: ROOT });
    tarballs = packed
      .toString()
      .trim()
      .split('\n')
      .map((file) => join(ROOT, file));
    project = join(dir, 'project');
    installInto(project, tarballs);
    link(project, '@types/node');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const compile = (...args: string[]) =>
    run(project, join(ROOT, 'node_modules/typescript/bin/tsc'), ...COMPILER_OPTIONS, ...args);

  it('run the add-on of their README as a test in plain JavaScript', () => {
    const readme = readFileSync(join(project, 'node_modules/@berth/addon/README.md'), 'utf8');
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    writeFileSync(join(project, 'helloworld.test.mjs'), example);
    const printed = { status: 0, output: "{ text: 'hello cluster1' }\n" };
    expect(run(project, 'helloworld.test.mjs')).toEqual(printed);
    const tested = run(project, '--test');
    expect(tested.output).toMatch(/^# pass 1\n# fail 0$/m);
    expect(tested.status).toBe(0);
    // The test is red when the add-on is wrong.
    writeFileSync(
      join(project, 'helloworld.test.mjs'),
      example.replace("name: 'greeting' },", "name: 'x' },"),
    );
    expect(run(project, '--test').output).toMatch(/^# pass 0\n# fail 1$/m);
    rmSync(join(project, 'helloworld.test.mjs'));
  });

  it('throw errors that the other packages know', () => {
    const text = `
      import { defineAddOn } from '@berth/addon';
      import { InputError } from '@berth/runtime/errors';
      try {
        defineAddOn({ name: 'No Name', manifests: async () => [] });
      } catch (error) {
        console.log(error instanceof InputError, error.name);
      }`;
    writeFileSync(join(project, 'errors.js'), text);
    expect(run(project, 'errors.js').output).toBe('true InputError\n');
  });

  it('say to TypeScript what an add-on may have', () => {
    const text = `
      import { defineAddOn } from '@berth/addon';
      export const addOn = defineAddOn({ name: 'a', manifests: async ({ cluster }) => [cluster.metadata.name] });`;
    writeFileSync(join(project, 'wrong.ts'), text);
    const { status, output } = compile('--noEmit', 'wrong.ts');
    expect(output).toMatch(/wrong\.ts\(3,\d+\): error TS2322: .*string\[\].*KubeObject/s);
    expect(output.match(/error TS/g)).toHaveLength(1);
    expect(status).not.toBe(0);
  });

  it('compile and run the example helloworld, copied out of this repository', () => {
    for (const name of ['addon-helloworld', 'shared'])
      cpSync(join(ROOT, 'examples', name), join(project, name), { recursive: true });
    expect(compile('--rewriteRelativeImportExtensions', 'addon-helloworld/main.ts')).toEqual({
      status: 0,
      output: '',
    });
    const start = `import('./addon-helloworld/main.js').then(({ main }) => main([], console.log))`;
    const { status, output } = run(project, '--eval', start);
    expect(output).toMatch(/^request {3}addon-cluster1-helloworld-\w+\nsecret /);
    expect(output).toContain('helloworld add-on is available.');
    expect(status).toBe(0);
  });

  it('run a manager without what only tests need', () => {
    const image = join(dir, 'image');
    const isForTests = (file: string) => FOR_TESTS.some((name) => file.includes(`/berth-${name}-0`));
    installInto(
      image,
      tarballs.filter((file) => !isForTests(file)),
    );
    const entries = ['', '/agent', '/go-templates', '/helm-chart'].map((path) => `@berth/addon${path}`);
    const load = entries.map((entry) => `await import('${entry}');`).join('');
    expect(run(image, '--input-type=module', '--eval', load)).toEqual({ status: 0, output: '' });
    const { output } = run(image, '--input-type=module', '--eval', `await import('@berth/addon/testing')`);
    expect(output).toMatch(/Cannot find package '@berth\/(agent|embedded-hub)'/);
  });
});
