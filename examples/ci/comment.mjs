// Writes a Markdown file as the one comment of a pull or merge request: edits it where it is there already.
//
//   node comment.mjs FILE
//
//   FORGE    github, gitea (also Forgejo) or gitlab
//   API      base of the API: https://api.github.com, https://gitea.example.org/api/v1, https://gitlab.example.org/api/v4
//   PROJECT  owner/name; at GitLab the id of the project, or its path
//   NUMBER   of the pull or merge request
//   TOKEN    may write comments there
import { readFile } from 'node:fs/promises';

const MARKER = '<!-- berth plan -->';
const { FORGE, API, PROJECT, NUMBER, TOKEN } = process.env;
for (const [name, value] of Object.entries({ FORGE, API, PROJECT, NUMBER, TOKEN }))
  if (!value) throw new Error(`${name} is missing: see the head of comment.mjs`);
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('got no file, expected node comment.mjs FILE');

const isGitLab = FORGE === 'gitlab';
const list = isGitLab
  ? `/projects/${encodeURIComponent(PROJECT)}/merge_requests/${NUMBER}/notes`
  : `/repos/${PROJECT}/issues/${NUMBER}/comments`;
const one = (id) => (isGitLab ? `${list}/${id}` : `/repos/${PROJECT}/issues/comments/${id}`);

async function request(method, path, body) {
  const response = await fetch(`${API.replace(/\/+$/, '')}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(isGitLab ? { 'private-token': TOKEN } : { authorization: `token ${TOKEN}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: got ${response.status} ${await response.text()}`);
  return response.json();
}

async function known() {
  let first;
  for (let page = 1; ; page++) {
    const size = FORGE === 'gitea' ? 'limit' : 'per_page';
    const comments = await request('GET', `${list}?${size}=50&page=${page}`);
    const found = comments.find(({ body }) => body.startsWith(MARKER));
    // Gitea gives all of them at once, whatever the page.
    if (found !== undefined || comments.length === 0 || comments[0].id === first) return found;
    first = comments[0].id;
  }
}

const body = `${MARKER}\n${await readFile(file, 'utf8')}`;
const comment = await known();
if (comment === undefined) await request('POST', list, { body });
else if (comment.body !== body) await request(isGitLab ? 'PUT' : 'PATCH', one(comment.id), { body });
