# syntax=docker/dockerfile:1
# Build in a clone: docker build -t berth .   Elsewhere, with the commit: docker build -t berth --build-arg BERTH_COMMIT=$(git rev-parse HEAD) .
# Run: docker run --read-only --tmpfs /tmp -v berth-data:/data berth serve --help
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.base.json tsconfig.package.json ./
COPY scripts/build.mjs scripts/own-packages.mjs scripts/write-build.mjs ./scripts/
COPY src ./src
COPY plugin ./plugin
# The files of .git that name the commit, in a clone (.dockerignore). The pattern may match nothing.
COPY package.json .gi[t] ./.git/
ARG BERTH_COMMIT=
# Types and source maps are for people who develop, the packages bare-* for another runtime.
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/@berth node_modules/bare-* \
  && find node_modules dist -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM node:24-bookworm-slim AS root
# git speaks to remotes, openssh-client carries ssh:// URLs and checks SSH signatures, gpg checks GPG ones, ca-certificates verify https:// URLs.
RUN apt-get update \
  && apt-get install -y --no-install-recommends git openssh-client gpg ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man /usr/share/locale \
    /usr/local/lib/node_modules /usr/local/include /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn-* \
  # Of git only what speaks to remotes as a client: no server, and nothing that is written in perl.
  && (cd /usr/lib/git-core && rm -rf git-daemon git-http-backend git-http-push git-http-fetch git-imap-send git-shell scalar \
    /usr/bin/git-shell /usr/bin/scalar) \
  && dpkg --purge --force-depends --force-remove-essential $(dpkg-query --show --showformat '${Package} ' '*perl*') \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
  # ssh and ssh-keygen refuse to run for a user without an entry. Any other user of group 0, as on OpenShift, may write /data.
  && groupadd --gid 65532 berth && useradd --uid 65532 --gid 65532 --home-dir /home/berth --shell /usr/sbin/nologin berth \
  && install -d -o 65532 -g 0 -m 0770 /data \
  && ln -s /app/dist/src/app/cli/main.js /usr/local/bin/berth
WORKDIR /app
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY examples ./examples

# One layer: what was deleted takes no space.
FROM scratch
COPY --from=root / /
WORKDIR /app
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# A fleet's decisions are long lists that live shortly: with room for them the collector stops the engine a fifth as long.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=64
USER 65532:65532
VOLUME ["/data"]
ENTRYPOINT ["node", "/app/dist/src/app/cli/main.js"]
CMD ["--help"]
