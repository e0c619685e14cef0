import { FORGE_PROVIDERS } from '@berth/forge/request/forge-repository';
import { z } from 'zod';
import { parseGoDuration } from '@berth/kube/model/go-duration';
import { parseRemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import { LISTED_KIND } from '../../core/sync/applied/applied-kinds.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import { gitRefOfType, parseGitRef } from '@berth/git-reader/repository/git-ref';

const text = z.string().min(1);
const file = text.describe('path of a file, relative to the settings file');

const ref = z.union([
  readable(text.describe('as --ref of berth serve: main, refs/heads/main, refs/tags/v1, HEAD'), parseGitRef),
  z.strictObject({ branch: readable(text, (name) => gitRefOfType('branch', name)) }),
  z.strictObject({ tag: readable(text, (name) => gitRefOfType('tag', name)) }),
  z.strictObject({ semver: readable(text, (range) => gitRefOfType('semver', range)) }),
  z.strictObject({ commit: readable(text, (id) => gitRefOfType('commit', id)) }),
]);

/** A text that `read` can read. Its problem gets the line and column of the text. */
function readable(of: typeof text, read: typeof parseGitRef): typeof text {
  return of.superRefine((value, context) => {
    const found = read(value);
    if ('problem' in found) context.addIssue({ code: 'custom', message: found.problem });
  });
}

/** A Secret on the hub. Its keys are those of Flux and Argo CD; see docs/git-sources.md. */
const secretRef = z.strictObject({ name: text, namespace: text.default(DEFAULT_NAMESPACE) });

const githubApp = z.strictObject({
  appId: z.union([text, z.int().positive()]).transform(String),
  installationId: z.union([text, z.int().positive()]).transform(String),
  privateKeyFile: file,
  apiUrl: z.url().optional(),
});

const credentials = z.union([
  z.strictObject({ tokenFile: file, username: text.optional() }),
  z.strictObject({ username: text, passwordFile: file }),
  z.strictObject({ sshKeyFile: file, knownHostsFile: file }),
  z.strictObject({ githubApp }),
  z.strictObject({ secretRef }),
]);

const signatures = z
  .strictObject({
    mode: z.enum(['HEAD', 'Tag', 'TagAndHEAD']).default('HEAD'),
    allowedSignersFile: file.optional(),
    gpgKeysFile: file.optional(),
  })
  .refine(
    ({ allowedSignersFile, gpgKeysFile }) => allowedSignersFile !== undefined || gpgKeysFile !== undefined,
    {
      error: 'contains no keys, expected allowedSignersFile or gpgKeysFile',
    },
  );

/** Credentials of forge APIs. */
const apiCredentials = z.union([
  z.strictObject({ tokenFile: file }),
  z.strictObject({ githubApp }),
  z.strictObject({ secretRef }),
]);

const commitStatus = z.strictObject({
  provider: z.enum(FORGE_PROVIDERS),
  /** Default: derived from the URL of the repository. */
  apiUrl: z.url().optional(),
  repository: text.optional(),
  /** The address that the status links to. */
  targetUrl: z.url().optional(),
  /** Default: the credentials of the source. */
  credentials: apiCredentials.optional(),
});

const preview = z.strictObject({
  provider: z.enum(FORGE_PROVIDERS),
  /** Default: derived from the URL of the repository. */
  apiUrl: z.url().optional(),
  repository: text.optional(),
  /** Default: the credentials of the source. */
  credentials: apiCredentials.optional(),
  /**
   * The account of the token, if the forge does not report it (access tokens of Bitbucket Cloud).
   */
  account: text.optional(),
  /**
   * Pull requests from forks. `off`: only when a user with write access requests it. `summary`:
   * without details.
   */
  forks: z.enum(['off', 'summary']).default('off'),
  drafts: z.boolean().default(true),
  /** Permission that is needed to approve held changes by a comment. */
  approvers: z.enum(['write', 'admin']).default('write'),
  /** Whether the author of a pull request may approve its held changes. */
  selfApproval: z.boolean().default(false),
  /** Whether a merge that would take away other clusters than its plan said is held. */
  holdToPlan: z.boolean().default(false),
  /** Whether each guard rule has its own commit status, in addition to that of the preview. */
  ruleStatuses: z.boolean().default(true),
  /** Whether plans ask the hub by dry runs what it would hold. Default: as `berth serve` says, which asks. */
  dryRuns: z.boolean().optional(),
});

const source = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/, 'expected a DNS label of at most 50 characters'),
  url: text,
  ref: ref.optional(),
  paths: z.array(text).optional(),
  credentials: credentials.optional(),
  /** PEM file with a certificate authority to trust instead of those of the system. */
  caFile: file.optional(),
  signatures: signatures.optional(),
  commitStatus: commitStatus.optional(),
  preview: preview.optional(),
  sync: z.enum(['apply', 'observe']).optional(),
  force: z.boolean().optional(),
  /**
   * How to handle fields that other managers own: `report` leaves them, `take` takes them over. Default: `take` with
   * force, otherwise `report`.
   */
  onConflict: z.enum(['report', 'take']).optional(),
  /** Kinds that are applied in addition to those of OCM and namespaces. */
  kinds: z.array(z.string().regex(LISTED_KIND, 'expected GROUP/KIND, /KIND, GROUP/* or *')).optional(),
  /** How much one change may remove: objects of the source, and clusters of its placements. `10%`, or a number. */
  removalBudget: z
    .union([text, z.int().nonnegative()])
    .transform((value) => parseRemovalBudget(String(value)))
    .refine((budget) => budget !== undefined, { error: 'expected a number or a percentage' })
    .optional(),
  /** Deletions of the source within this time count together toward its budget: `10m`; `0`: each sync counts alone. */
  deletionWindow: z
    .union([text, z.literal(0)])
    .transform((value) => parseGoDuration(String(value)))
    .refine((ms) => ms !== undefined && ms >= 0, { error: 'expected a duration such as 10m' })
    .optional(),
  /**
   * Allows deleting all remaining objects of the source within the budget; otherwise this needs a
   * release.
   */
  allowEmpty: z.boolean().optional(),
});

/** The settings file of `berth serve`: the repositories that Berth follows, and how. */
export const settingsSchema = z.strictObject({
  /** Whether PlacementDecisions say why each cluster is selected. */
  decisionReasons: z.boolean().optional(),
  sources: z.array(source).min(1),
});

export type Settings = z.infer<typeof settingsSchema>;

export type SourceSettings = z.infer<typeof source>;
export type CredentialSettings = z.infer<typeof credentials>;
export type CommitStatusSettings = z.infer<typeof commitStatus>;
export type PreviewSettings = z.infer<typeof preview>;
export type GitHubAppSettings = z.infer<typeof githubApp>;
export type RefSettings = z.infer<typeof ref>;
