import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openForge } from '@berth/forge/open-forge';
import type { AddOnDuty } from '../../../../src/core/addon/addon-duties.ts';
import type { PreviewRules } from '../../../../src/core/preview/preview-rules.ts';
import type { ServeSource } from '../../../../src/controllers/sources/progress/source-options.ts';
import type { ForgeProvider } from '@berth/forge/request/forge-repository';
import type {
  FakeForge,
  FakePull,
  PullEvent,
} from '../../../../packages/forge/test/fakes/forges/fake-forge.ts';
import { FAKE_FORGES } from '../../../../packages/forge/test/fakes/forges/fake-forges.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import type { ServeOptions } from '../../../../src/app/settings/serve-options.ts';
import { baseFiles } from '../fleet-fixture.ts';
import { ServedFleet } from '../served-fleet.ts';

const SECRET = 'a-secret-of-this-test';
export const RULES: PreviewRules = {
  forks: 'off',
  drafts: true,
  approvers: 'write',
  selfApproval: false,
  holdToPlan: false,
};

/** Whether the hub is asked, and what the controller does for add-ons. */
interface Settings {
  readonly ofSource?: boolean | undefined;
  readonly ofController?: boolean | undefined;
  readonly addons?: readonly AddOnDuty[] | undefined;
  readonly argocd?: ServeOptions['argocd'];
  readonly otlp?: ServeOptions['otlp'];
}

/** A served fleet whose repository is at a forge. */
export class PreviewedFleet {
  readonly fleet: ServedFleet;
  readonly server: FakeForge;
  readonly secret = SECRET;
  readonly #log = new SilentLogger();
  #apiUrl = '';
  #url = '';

  private constructor(fleet: ServedFleet, server: FakeForge) {
    this.fleet = fleet;
    this.server = server;
  }

  static async create(provider: ForgeProvider = 'gitea'): Promise<PreviewedFleet> {
    const made = new PreviewedFleet(await ServedFleet.create(), FAKE_FORGES[provider]());
    made.#apiUrl = await made.server.start();
    made.server.repositoryUrl = made.fleet.git.path;
    return made;
  }

  /** Commits to main, and serves. */
  async serve(
    files: Readonly<Record<string, string>>,
    rules: Partial<PreviewRules> = {},
    settings: Settings = {},
  ): Promise<void> {
    this.fleet.git.commit({ ...baseFiles, ...files }, 'Base');
    await this.restart(rules, settings);
  }

  async restart(rules: Partial<PreviewRules> = {}, settings: Settings = {}): Promise<void> {
    const { ofSource, ofController, addons, argocd, otlp } = settings;
    const webhookSecret = join(this.fleet.dataDir, 'webhook-secret');
    writeFileSync(webhookSecret, SECRET);
    const source: ServeSource = {
      url: this.fleet.git.path,
      ref: { type: 'branch', name: 'main' },
      preview: {
        forge: openForge({
          provider: this.server.provider,
          apiUrl: this.#apiUrl,
          repository: this.server.repository,
          token: async () => 'token',
        }),
        repositoryName: 'team/fleet',
        rules: { ...RULES, ...rules },
        ruleStatuses: true,
        dryRuns: ofSource,
      },
    };
    const http = {
      ...this.fleet.http(),
      webhookSecretFiles: { [this.#webhook]: webhookSecret },
      publicUrl: 'https://berth.example',
    };
    const running = await this.fleet.serve({
      sources: [source],
      http,
      log: this.#log,
      dryRuns: ofController,
      argocd,
      otlp,
      ...(addons && { addons: { duties: addons, clock: this.fleet.clock } }),
    });
    this.#url = running.url ?? '';
    await running.whenReady();
  }

  /** A branch with these files on top of main, open as a pull request; not yet reported. @returns its head */
  open(
    number: number,
    files: Readonly<Record<string, string | undefined>>,
    pull: Partial<FakePull> = {},
  ): string {
    const { git } = this.fleet;
    git.run('checkout', '-q', '-B', `change-${number}`, 'main');
    const head = git.commit(files, `Change ${number}`);
    git.run('checkout', '-q', 'main');
    this.server.pulls.set(number, { number, head, ...pull });
    return head;
  }

  /** Merges it as the forge does. */
  merge(number: number): string {
    const { git } = this.fleet;
    git.merge(`change-${number}`);
    const merged = git.run('rev-parse', 'HEAD').trim();
    const pull = this.server.pulls.get(number);
    if (pull !== undefined) pull.merged = merged;
    return merged;
  }

  get url(): string {
    return this.#url;
  }

  deliver(delivery: RequestInit): Promise<Response> {
    return fetch(`${this.#url}/webhooks/${this.#webhook}`, delivery);
  }

  changed(number: number, event: PullEvent = 'pushed'): Promise<Response> {
    return this.deliver(this.server.pullDelivery(number, event, SECRET));
  }

  async say(number: number, author: string, body: string): Promise<void> {
    await this.deliver(this.server.commentDelivery(this.server.write(number, author, body), 'new', SECRET));
  }

  get #webhook(): string {
    const { provider } = this.server;
    return provider === 'bitbucket-data-center' ? 'bitbucket' : provider;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.#url}${path}`, { headers });
  }

  /** The comment of the preview, when it says this. */
  comment(number: number, text: string | RegExp): Promise<string> {
    const fits = (body: string): boolean =>
      typeof text === 'string' ? body.includes(text) : text.test(body);
    return this.fleet.until(
      () =>
        this.server.comments.find((one) => one.number === number && one.author === 'berth' && fits(one.body))
          ?.body,
    );
  }

  /** The controller has reported the plan of this head and saved that; the forge shows the status earlier than that. */
  planned(head: string): Promise<true> {
    return this.fleet.until(() =>
      this.#log.entries.some(
        ({ message, fields }) => message === 'pull request was planned' && fields['head'] === head,
      )
        ? true
        : undefined,
    );
  }

  status(commit: string, state: string, context = 'berth/preview/fleet'): Promise<string> {
    return this.fleet.until(() => {
      const found = this.server.statusOf(commit, context);
      return found?.state === state ? found.description : undefined;
    });
  }

  async close(): Promise<void> {
    await this.fleet.close();
    await this.server.close();
  }
}
