"""The flags with which benchmarks and browser tests start Chromium."""

from __future__ import annotations

#: Playwright gives a list of its own, but Chromium heeds only the last one: these are the features of that list which
#: concern a page or reach for the network, and the first three.
DISABLED_FEATURES = [
    # Chromium's own address bar. Its pages are loaded with each window, even an invisible one: a second of a core.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]

#: `--no-sandbox` is needed because tests also run as root in containers. The others prevent requests to the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
]
