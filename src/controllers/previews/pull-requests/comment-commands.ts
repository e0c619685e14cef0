import type {
  CommandReaction,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '@berth/forge/contract/pull-request-forge';
import { InputError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import {
  approved,
  type HeldChange,
  HELP,
  noCode,
  noOwner,
  noReason,
  notApproved,
  overrode,
  stranger,
  unknownCommand,
  whichRule,
} from '../../../core/preview/comment/command-answers.ts';
import { type CommentCommand, commentCommand } from '../../../core/preview/comment/comment-command.ts';
import { code, visible } from '../../../core/preview/comment/foreign-text.ts';
import { jointCode } from '../../../core/publish/approval/approval-code.ts';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import { NO_MEMORY, type PreviewMemory } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import type { PullRequestComment } from './reported-events.ts';

/** In this period a pull request gets so many answers. Then commands count, and are not answered. */
const [ANSWERS_PERIOD_MS, MAX_ANSWERS] = [3_600_000, 20] as const;
const LAST_ANSWER =
  'So many commands came that Berth answers no further one here for up to an hour. It still does what they say.';
/** So many accounts without the right to write get an answer on one pull request. */
const MAX_STRANGERS = 5;

/**
 * Does what comments on the pull requests of one repository ask for, and answers: a reaction on the comment where the
 * forge has reactions, and a reply. No comment of Berth begins with a command, and apps are not answered, so that no two
 * programs talk to each other.
 */
export class CommentCommands {
  readonly #options: PullRequestPreviewsOptions;

  constructor(options: PullRequestPreviewsOptions) {
    this.#options = options;
  }

  /**
   * A command counts only if its author may write to the repository.
   * @returns whether the pull request has to be handled again
   * @throws the errors of the forge
   */
  async run(comment: PullRequestComment, branch: string, signal: AbortSignal): Promise<boolean> {
    const { number, author, authorName } = comment;
    const { forge, rules } = this.#options;
    const command = commentCommand(comment.text);
    // At GitHub the account of an app is named so.
    if (command === undefined || author.endsWith('[bot]')) return false;
    const permission = await permissionOf(forge, author, signal);
    const mayWrite = permission === 'write' || permission === 'admin';
    if (!mayWrite && !this.#isNewStranger(comment)) return false;
    const pull = await forge.read(number, signal);
    if (pull?.baseBranch !== branch) return false;
    // An id alone tells readers nothing, and a name alone is not unique.
    const by = authorName === undefined ? author : `${authorName} (${author})`;
    if (!mayWrite) {
      const { strangers = [], ...memory } = this.#memory(number);
      this.#save(number, { ...memory, strangers: [...strangers, author] });
      await this.#answer(comment, { text: stranger(by), reaction: 'refused' }, signal);
      return false;
    }
    const given = { command, author, by, permission };
    const noted = noteCommand(this.#memory(number), given, pull, rules);
    this.#save(number, noted.memory);
    const mayAnswer = this.#countAnswer(number);
    if (mayAnswer !== 'no') {
      const last = mayAnswer === 'last' ? `\n\n${LAST_ANSWER}` : '';
      await this.#answer(comment, { ...noted, text: `${code(by)}: ${noted.text}${last}` }, signal);
    }
    return noted.memory.asked !== this.#memory(number).answered || pull.state === 'merged';
  }

  #isNewStranger({ number, author }: PullRequestComment): boolean {
    const { strangers = [] } = this.#memory(number);
    return strangers.length < MAX_STRANGERS && !strangers.includes(author);
  }

  #countAnswer(number: number): 'yes' | 'last' | 'no' {
    const memory = this.#memory(number);
    const nowMs = this.#options.clock.now();
    const { answers } = memory;
    const isOver = answers === undefined || nowMs - answers.sinceMs > ANSWERS_PERIOD_MS;
    const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : answers;
    if (count >= MAX_ANSWERS) return 'no';
    this.#save(number, { ...memory, answers: { sinceMs, count: count + 1 } });
    return count + 1 === MAX_ANSWERS ? 'last' : 'yes';
  }

  /** Each comment is answered once, also when several sources have the repository, or the delivery is repeated. */
  async #answer(
    { number, id }: PullRequestComment,
    { text, reaction }: Answer,
    signal: AbortSignal,
  ): Promise<void> {
    const { forge, log, source } = this.#options;
    const marker = `<!-- berth:answer:${id} -->`;
    const [known] = await forge.ownComments(number, marker, signal);
    if (known !== undefined) return;
    await forge.addComment(number, `${marker}\n${text}\n`, signal);
    // The reply says everything. A forge may lack this reaction, or refuse it on a locked conversation.
    await forge.react?.(number, id, reaction, signal).catch((error: unknown) => {
      log.debug('a comment got no reaction', { source, number, error });
    });
  }

  #memory(number: number): PreviewMemory {
    return this.#options.memories.get(String(number)) ?? NO_MEMORY;
  }

  #save(number: number, memory: PreviewMemory): void {
    this.#options.memories.set(String(number), memory);
  }
}

async function permissionOf(
  forge: Pick<PullRequestForge, 'permissionOf'>,
  author: string,
  signal: AbortSignal,
): Promise<RepositoryPermission> {
  try {
    return await forge.permissionOf(author, signal);
  } catch (cause) {
    if (!(cause instanceof InputError) || cause.code !== 'scm.auth') throw cause;
    const { code: errorCode, subject } = cause;
    throw new InputError(
      `a command of ${author} is ignored: the token may not ask the forge what this account may do`,
      {
        ...{ code: errorCode, subject, cause },
        hint: 'give the account of the token the right in the last column of the table in docs/previews.md#rights',
      },
    );
  }
}

/** A command and its author. */
interface GivenCommand {
  readonly command: CommentCommand;
  /** The account, as the forge names it. */
  readonly author: string;
  /** The name for display. */
  readonly by: string;
  readonly permission: RepositoryPermission;
}

interface Answer {
  /** Markdown. */
  readonly text: string;
  readonly reaction: CommandReaction;
}

interface NotedCommand extends Answer {
  readonly memory: PreviewMemory;
}

/**
 * The memory of a pull request after a command of an account with write access, and the answer. The memory contains what
 * was requested or approved.
 */
export function noteCommand(
  memory: PreviewMemory,
  given: GivenCommand,
  pull: Pick<PullRequest, 'author' | 'headCommit' | 'state'>,
  rules: Pick<PreviewRules, 'approvers' | 'selfApproval'>,
): NotedCommand {
  const { command } = given;
  const refused = (text: string): NotedCommand => ({ memory, text, reaction: 'refused' });
  const asked = memory.asked + 1;
  if (command.kind === 'unknown') return refused(unknownCommand(command.meant));
  if (command.kind === 'help') return { memory, text: HELP, reaction: 'accepted' };
  if (pull.state === 'closed') return refused('This pull request is closed. Open it again first.');
  if (command.kind === 'plan') {
    if (pull.state === 'merged') return refused('This pull request is merged: there is nothing to plan.');
    const text = 'Berth plans again. The result is in the comment of the plan.';
    return { memory: { ...memory, asked, allowedHead: pull.headCommit }, text, reaction: 'accepted' };
  }
  if (command.kind === 'override') return noteOverride(memory, { ...given, command }, pull, rules);
  const why = refusalOf(given, pull, rules);
  if (why !== undefined) return refused(why);
  const [held, isMerged] = [heldChanges(memory), pull.state === 'merged'];
  const tokens = held.map(({ token }) => token);
  const all = jointCode(sha256, tokens);
  const codes = command.codes.flatMap((one) => (one === all ? tokens : (plannedBy(memory, one) ?? [one])));
  if (memory.base === '')
    return refused(`There is no plan yet, so nothing can be approved. Write ${code('/berth plan')} first.`);
  if (codes.length === 0 && held.length !== 1) return refused(noCode({ held, isMerged, all }));
  const chosen = codes.length === 0 ? held : held.filter(({ token }) => codes.includes(token));
  const unknown = codes.filter((one) => !held.some(({ token }) => token === one));
  if (unknown.length > 0)
    return refused(notApproved(unknown, { held, past: memory.pastCodes ?? [], isMerged, all }));
  const others = memory.approvals.filter(({ token }) => !chosen.some((one) => one.token === token));
  const approvals = [...others, ...chosen.map(({ token }) => ({ token, by: given.by }))];
  return { memory: { ...memory, asked, approvals }, text: approved(chosen, isMerged), reaction: 'accepted' };
}

/**
 * What the code of a comment approves: all that its plan would hold. After the merge, some of it may be released already.
 * Undefined for the code of a single change.
 */
function plannedBy(memory: PreviewMemory, code: string): readonly string[] | undefined {
  const planned = heldChanges({ ...memory, merge: undefined }).map(({ token }) => token);
  if (planned.length < 2 || code !== jointCode(sha256, planned)) return undefined;
  const still = new Set(heldChanges(memory).map(({ token }) => token));
  return planned.filter((one) => still.has(one));
}

/** Why this account may not approve; undefined if it may. */
function refusalOf(
  { author, permission }: GivenCommand,
  pull: Pick<PullRequest, 'author'>,
  { approvers, selfApproval }: Pick<PreviewRules, 'approvers' | 'selfApproval'>,
): string | undefined {
  if (approvers === 'admin' && permission !== 'admin')
    return 'You may not approve: only an administrator of the repository may.';
  if (!selfApproval && author === pull.author) return 'You opened this pull request and may not approve it.';
  return undefined;
}

/** What the plan would hold; after the merge, what is held. */
function heldChanges({ expected, heldDeletions, addOns = [], merge }: PreviewMemory): readonly HeldChange[] {
  if (merge?.reported !== undefined)
    return merge.reported.held.flatMap(({ what, token }) => (token === undefined ? [] : [{ what, token }]));
  return [
    ...expected.flatMap(({ placement, before, after, heldToken: token }) =>
      token === undefined ? [] : [{ token, what: { placement, before, after } }],
    ),
    ...heldDeletions.map(({ source, token }) => ({ token, what: { deletionsOf: source } })),
    ...addOns.flatMap(({ addOn, clusters, heldToken: token }) =>
      token === undefined ? [] : [{ token, what: { addOn, leaving: clusters } }],
    ),
  ];
}

/** The memory after an owner of a guard rule asked to let the change pass, and the answer. */
function noteOverride(
  memory: PreviewMemory,
  { command, author, by }: GivenCommand & { readonly command: { readonly kind: 'override' } },
  pull: Pick<PullRequest, 'author' | 'state'>,
  { selfApproval }: Pick<PreviewRules, 'selfApproval'>,
): NotedCommand {
  const refused = (text: string): NotedCommand => ({ memory, text, reaction: 'refused' });
  if (pull.state === 'merged') return refused('This pull request is merged: there is nothing to override.');
  const { change = '', rules = [] } = memory.denied ?? {};
  const text = command.text.replace(/^["`]/, '');
  const rule = rules
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => text.startsWith(name) && /^(["`:]|\s|$)/.test(text.slice(name.length)));
  if (rule === undefined) return refused(whichRule(rules));
  const { name, owners } = rule;
  const isOwner = owners.some((owner) => owner.replace(/^@/, '').toLowerCase() === author.toLowerCase());
  if (!isOwner) return refused(noOwner(name, owners));
  if (!selfApproval && author === pull.author)
    return refused('You opened this pull request and may not override a rule on it.');
  const reason = visible(text.slice(name.length).replace(/^["`:]+/, ''));
  if (reason === '') return refused(noReason(name));
  const others = (memory.overrides ?? []).filter((one) => one.rule !== name);
  const overrides = [...others, { rule: name, by, reason, change }];
  const asked = memory.asked + 1;
  return { memory: { ...memory, asked, overrides }, text: overrode(name, reason), reaction: 'accepted' };
}
