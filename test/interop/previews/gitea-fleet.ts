import { expect } from 'vitest';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openForge } from '@berth/forge/open-forge';
import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import type { PreviewRules } from '../../../src/core/preview/preview-rules.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';
import { type Gitea, startGitea } from '../peers/gitea.ts';

const SECRET = 'a-secret-of-this-test';
/** Where reports are, for readers of comments. */
const PUBLIC_URL = 'https://berth.example';
const PROJECT = '/repos/root/fleet';
const RULES = '.berth/rules.yaml';
export const NO_RULES = { [RULES]: 'rules: []\n' };

/** The placement of this name asks for so many clusters. */
export const asks = (count: number, name = 'web') => ({
  [`${name}.yaml`]: yaml(placement(name, { numberOfClusters: count })),
});

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly html_url: string;
  readonly updated_at: string;
  readonly user: { readonly login: string };
}

interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The hub, whose answers to writes may take as long as a test wants. */
class SlowKubeApi extends InterceptedKubeApi {
  hold: Promise<void> | undefined;

  protected async write<T>(request: () => Promise<T>): Promise<T> {
    await this.hold;
    return request();
  }
}

/**
 * A repository on a real Gitea, and a controller that previews its pull requests. Its webhooks go through a relay, so that a delivery can
 * be lost, or come twice. A test that failed runs again on the same Gitea: `begin` gives every try branches of its own.
 */
export class GiteaFleet {
  readonly fleet: ServedFleet;
  readonly gitea: Gitea;
  readonly #token: string;
  readonly #rules: PreviewRules;
  readonly #hub: SlowKubeApi;
  readonly #relay: Server;
  /** Where deliveries go; undefined: they are lost. */
  #target: string | undefined;
  readonly deliveries: Delivery[] = [];
  readonly #taken: Delivery[] = [];
  #attempt = 0;
  #hasPullRequests = false;
  /** Plans that have been announced wait for this. */
  #hold: Promise<void> | undefined;
  #release = (): void => undefined;

  private constructor(parts: {
    readonly fleet: ServedFleet;
    readonly gitea: Gitea;
    readonly token: string;
    readonly rules: PreviewRules;
  }) {
    [this.fleet, this.gitea, this.#token, this.#rules] = [parts.fleet, parts.gitea, parts.token, parts.rules];
    this.#hub = new SlowKubeApi(parts.fleet.hub.api);
    this.#relay = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const delivery = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
        this.deliveries.push(delivery);
        // A controller that stops meanwhile takes nothing.
        const status = await this.deliver(delivery).catch(() => 502);
        if (status < 300) this.#taken.push(delivery);
        response.writeHead(status).end();
      })();
    });
  }

  /** Accounts: `berth` is the controller's, `ada` and `grace` may write, `mallory` may only read. */
  static async create(rules: Partial<PreviewRules> = {}): Promise<GiteaFleet> {
    const fleet = await ServedFleet.create();
    const gitea = await startGitea(join(fleet.dataDir, 'gitea'));
    const token = gitea.user('berth');
    for (const name of ['ada', 'grace', 'mallory']) gitea.user(name);
    await gitea.call('POST', '/user/repos', { name: 'fleet', default_branch: 'main' });
    // Only an administrator of the repository may ask what another account may do in it.
    for (const [name, permission] of Object.entries({ berth: 'admin', ada: 'write', grace: 'write' }))
      await gitea.call('PUT', `${PROJECT}/collaborators/${name}`, { permission });
    const usual = {
      forks: 'off',
      drafts: true,
      approvers: 'write',
      selfApproval: false,
      holdToPlan: false,
    } as const;
    const made = new GiteaFleet({ fleet, gitea, token, rules: { ...usual, ...rules } });
    await made.#open();
    return made;
  }

  async #open(): Promise<void> {
    const { fleet, gitea } = this;
    await new Promise<void>((resolve) => this.#relay.listen(0, '127.0.0.1', resolve));
    fleet.git.commit({ ...baseFiles, ...asks(1), ...NO_RULES }, 'Base');
    fleet.git.run('remote', 'add', 'forge', this.remote('ada'));
    fleet.git.run('push', '-q', 'forge', 'main');
    await this.serve();
    const { port } = this.#relay.address() as AddressInfo;
    await gitea.call('POST', `${PROJECT}/hooks`, {
      type: 'gitea',
      active: true,
      config: { url: `http://127.0.0.1:${port}/webhooks/gitea`, content_type: 'json', secret: SECRET },
      events: ['push', 'pull_request', 'pull_request_sync', 'pull_request_comment'],
    });
    await fleet.published('web');
  }

  /** Starts a controller; the one before has to be stopped. */
  async serve(): Promise<void> {
    const { fleet, gitea } = this;
    const [tokenFile, secretFile] = [join(fleet.dataDir, 'forge-token'), join(fleet.dataDir, 'secret')];
    writeFileSync(tokenFile, this.#token);
    writeFileSync(secretFile, SECRET);
    const repository = {
      apiUrl: `${gitea.url}/api/v1`,
      repository: 'root/fleet',
      token: async () => this.#token,
    };
    const running = await fleet.serve({
      api: this.#hub,
      budget: { percent: 100, atLeast: 0 },
      sources: [
        {
          url: `${gitea.url}/root/fleet.git`,
          ref: { type: 'branch', name: 'main' },
          auth: { type: 'token', file: tokenFile },
          preview: {
            forge: this.#slow(openForge({ provider: 'gitea', ...repository })),
            repositoryName: 'root/fleet',
            rules: this.#rules,
            ruleStatuses: true,
          },
        },
      ],
      http: { ...fleet.http(), webhookSecretFiles: { gitea: secretFile }, publicUrl: PUBLIC_URL },
    });
    this.#target = running.url;
  }

  /**
   * The forge with an answer that takes as long as `holdPlans` says: the one to the status that announces a plan.
   */
  #slow(forge: PullRequestForge): PullRequestForge {
    return new Proxy(forge, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          const answer: unknown = await Reflect.apply(member, target, args);
          if (name === 'writeStatus' && (args[0] as { readonly state: string }).state === 'pending')
            await this.#hold;
          return answer;
        };
      },
    });
  }

  /** From here on plans are announced and not made. @returns lets them be made */
  holdPlans(): () => void {
    this.#hold = new Promise((resolve) => {
      this.#release = () => {
        this.#hold = undefined;
        resolve();
      };
    });
    return this.#release;
  }

  /** From here on the controller writes nothing to the hub. @returns lets it write */
  holdWrites(): () => void {
    let release = (): void => undefined;
    this.#hub.hold = new Promise((resolve) => {
      release = () => {
        this.#hub.hold = undefined;
        resolve();
      };
    });
    return release;
  }

  /** Where the controller serves. */
  get url(): string {
    return this.#target ?? '';
  }

  /** The text of a page that a comment links to. */
  async page(link: string): Promise<string> {
    const answer = await fetch(link.replace(PUBLIC_URL, this.#target ?? ''));
    return answer.text();
  }

  /** From here on deliveries are lost. */
  async stop(): Promise<void> {
    this.#target = undefined;
    await this.fleet.stop();
  }

  async close(): Promise<void> {
    this.#relay.closeAllConnections();
    await new Promise((resolve) => this.#relay.close(resolve));
    await this.gitea.stop();
    await this.fleet.close();
  }

  /** Sends a delivery to the controller, the first time or again. @returns the status of the answer */
  async deliver({ path, headers, body }: Delivery): Promise<number> {
    if (this.#target === undefined) return 503;
    const kept = Object.entries(headers).filter(([name]) => /^(x-|content-type)/.test(name)) as [
      string,
      string,
    ][];
    const answer = await fetch(`${this.#target}${path}`, { method: 'POST', headers: kept, body });
    return answer.status;
  }

  /** Another try: nothing waits, no pull request is open, main is as it was at first, and branches get other names. */
  async begin(): Promise<void> {
    this.#attempt++;
    this.#release();
    await this.#closePullRequests();
    this.push('main', { ...asks(1), ...NO_RULES });
    await this.fleet.until(async () => ((await this.fleet.decisions('web')).length === 1 ? true : undefined));
  }

  async #closePullRequests(): Promise<void> {
    // Gitea lists none of a repository that it still takes for empty.
    if (!this.#hasPullRequests) return;
    const open = (await this.gitea.call('GET', `${PROJECT}/pulls?state=open`)) as { number: number }[];
    for (const { number } of open) await this.edit(number, { state: 'closed' });
  }

  remote(account: string, owner = 'root'): string {
    const url = new URL(`${this.gitea.url}/${owner}/fleet.git`);
    [url.username, url.password] = [account, `A-${account}-1234567`];
    return url.href;
  }

  named(branch: string): string {
    return branch === 'main' ? branch : `${branch}-${this.#attempt}`;
  }

  /** Commits to a branch that begins at main, and pushes it. @returns the commit */
  push(branch: string, files: Readonly<Record<string, string | undefined>>, remote = 'forge'): string {
    const { git } = this.fleet;
    git.run('fetch', '-q', 'forge');
    git.run('checkout', '-q', '-B', this.named(branch), 'forge/main');
    const head = git.commit(files, `Change ${this.named(branch)}`);
    git.run('push', '-q', '--force', remote, this.named(branch));
    return head;
  }

  /** @returns the number of the new pull request */
  async open(branch: string, { title = branch, account = 'ada', owner = '' } = {}): Promise<number> {
    const head = `${owner === '' ? '' : `${owner}:`}${this.named(branch)}`;
    // Gitea lists a branch a moment after the push.
    const pushed = `/repos/${owner === '' ? 'root' : owner}/fleet/branches/${this.named(branch)}`;
    const isListed = (): Promise<boolean> =>
      this.gitea.call('GET', pushed).then(
        () => true,
        () => false,
      );
    await expect.poll(isListed).toBe(true);
    const made = await this.gitea.call('POST', `${PROJECT}/pulls`, { head, base: 'main', title }, account);
    this.#hasPullRequests = true;
    return (made as { number: number }).number;
  }

  /** Changes the title or the state of a pull request. */
  edit(number: number, change: { readonly title?: string; readonly state?: string }): Promise<unknown> {
    return this.gitea.call('PATCH', `${PROJECT}/pulls/${number}`, change);
  }

  say(number: number, body: string, account: string): Promise<unknown> {
    return this.gitea.call('POST', `${PROJECT}/issues/${number}/comments`, { body }, account);
  }

  /** Those of the controller. */
  async comments(number: number): Promise<readonly Comment[]> {
    const all = (await this.gitea.call('GET', `${PROJECT}/issues/${number}/comments`)) as Comment[];
    return all.filter(({ user }) => user.login === 'berth');
  }

  /** Waits for the controller's comment with this text. */
  comment(number: number, text: string): Promise<Comment> {
    return this.fleet.until(async () =>
      (await this.comments(number)).find(({ body }) => body.includes(text)),
    );
  }

  /** Waits for a status of the commit. @returns its description */
  status(commit: string, state: string, context = 'berth/preview/fleet'): Promise<string> {
    return this.fleet.until(async () => {
      const found = (await this.gitea.call('GET', `${PROJECT}/commits/${commit}/status`)) as {
        readonly statuses: readonly { context: string; status: string; description: string }[] | null;
      };
      return (found.statuses ?? []).find((one) => one.context === context && one.status === state)
        ?.description;
    });
  }

  /** Waits until the last status of the preview of a commit says this. */
  described(commit: string, description: string): Promise<true> {
    return this.fleet.until(async () =>
      (await this.status(commit, 'pending')) === description ? true : undefined,
    );
  }

  /** Waits until a delivery about this pull request with this action was taken by the controller. */
  delivered(action: string, number: number): Promise<true> {
    return this.fleet.until(async () =>
      this.#taken.some(({ body }) => {
        const said = JSON.parse(body.toString('utf8')) as { action?: string; number?: number };
        return said.action === action && said.number === number;
      })
        ? true
        : undefined,
    );
  }

  /** Merges it once Gitea finds that it can be merged. @returns the commit of the merge */
  async merge(number: number, how = 'merge', account = 'root'): Promise<string> {
    const path = `${PROJECT}/pulls/${number}`;
    await this.fleet.until(async () =>
      ((await this.gitea.call('GET', path)) as { mergeable: boolean }).mergeable ? true : undefined,
    );
    await this.gitea.call('POST', `${path}/merge`, { Do: how }, account);
    return this.fleet.until(async () => {
      const pull = (await this.gitea.call('GET', path)) as {
        readonly merged: boolean;
        readonly merge_commit_sha: string | null;
      };
      return pull.merged ? (pull.merge_commit_sha ?? undefined) : undefined;
    });
  }
}
