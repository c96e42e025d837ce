"""Calls of every service of Smart Cooking on its made-up data, in an order in which each can be made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable_systems.smart_cooking import (
    Accounts,
    Catalogue,
    Cooking,
    Feeds,
    Friends,
    Notifications,
    Pantry,
    PantrySource,
    Posts,
    Ratings,
    Reactions,
    Recipes,
    Reports,
    Sessions,
    Suggestions,
    Trending,
    Viewing,
)
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeDraft, RecipeText
from systems.service_calls import ServiceCall

MAI: Any = "mai"
AN: Any = "an"
CHI: Any = "chi"
DUC: Any = "duc"
LAN: Any = "lan"
MINH: Any = "minh"  # who may approve
OWN: Any = "r000000"
PRIVATE: Any = "g000000"
THEIRS: Any = "r000001"
POST: Any = "p000000"
HIDDEN: Any = "p000036"
LINES: Any = [IngredientLine(ingredient_name="gà"), IngredientLine(ingredient_name="gạo")]
TEXT: dict[str, Any] = {
    "title": "Rice",
    "cuisine_type": "Thai",
    "cooking_method": "boil",
    "meal_type": "main",
}


def calls(db: Any) -> Iterator[ServiceCall]:
    yield from of_people(db)
    yield from of_food(db)
    yield from of_recipes(db)
    yield from of_society(db)
    yield from of_admins(db)
    yield "Accounts.deletion_plan", lambda: Accounts(db).deletion_plan(MAI)
    yield "Accounts.delete_all_data", lambda: Accounts(db).delete_all_data(MAI)


def of_people(db: Any) -> Iterator[ServiceCall]:
    accounts, sessions, viewing, pantry = Accounts(db), Sessions(db), Viewing(db), Pantry(db)
    yield "Accounts.sign_up", lambda: accounts.sign_up("new@example.com", "newcomer", "New")
    yield "Accounts.log_in", lambda: accounts.log_in("mai@example.com")
    yield "Accounts.rename", lambda: accounts.rename(MAI, "Mai Anh")
    yield "Accounts.change_email", lambda: accounts.change_email(MAI, "mai.anh@example.com")
    yield "Accounts.change_username", lambda: accounts.change_username(MAI, "mai_anh")
    yield "Accounts.set_avatar", lambda: accounts.set_avatar(MAI, "https://example.com/mai.jpg")
    yield "Accounts.set_about", lambda: accounts.set_about(MAI, country="VN")
    yield "Accounts.set_preferences", lambda: accounts.set_preferences(MAI, allergies=["peanut"])
    yield "Accounts.set_privacy", lambda: accounts.set_privacy(MAI, email_visibility="private")
    yield "Accounts.deactivate", lambda: accounts.deactivate(LAN)
    yield "Accounts.activate", lambda: accounts.activate(LAN)
    opened = sessions.open(MAI)
    yield "Sessions.open", lambda: sessions.open(MAI)
    yield "Sessions.check", lambda: sessions.check(opened.session_id)
    yield "Sessions.close", lambda: sessions.close(opened.session_id)
    yield "Sessions.close_all", lambda: sessions.close_all(MAI)
    yield "Viewing.profile", lambda: viewing.profile(MAI, None)
    yield "Viewing.profile", lambda: viewing.profile(MAI, AN)
    yield "Viewing.profile", lambda: viewing.profile(MAI, DUC)
    yield "Viewing.admins", lambda: viewing.admins(AN)
    yield "Viewing.recipes", lambda: viewing.recipes(MAI, AN)
    yield "Viewing.ingredients", lambda: viewing.ingredients(MAI, AN)
    yield "Viewing.preferences", lambda: viewing.preferences(MAI, AN)
    yield "Pantry.add", lambda: pantry.add(AN, ["Thịt gà", "kryptonite"])
    yield "Pantry.remove", lambda: pantry.remove(AN, "Thịt gà")
    yield "Pantry.get", lambda: pantry.get(MAI, "Thịt gà")
    yield "Pantry.page", lambda: pantry.page(MAI)


def of_food(db: Any) -> Iterator[ServiceCall]:
    catalogue, suggestions, cooking = Catalogue(db), Suggestions(db, PantrySource()), Cooking(db)
    yield "Catalogue.search", lambda: catalogue.search("gà")
    yield "Catalogue.resolve", lambda: catalogue.resolve(["gà", "gạo", "kryptonite"])
    yield "Suggestions.suggest", lambda: suggestions.suggest(MAI, ["gà", "gạo"], count=5)
    yield "Suggestions.suggest", lambda: suggestions.suggest(MAI, ["gà", "kryptonite"], count=3)
    given = db.suggestions(MAI).page(5).items[-1]
    named = (MAI, given.created_at, given.suggestion_id)
    yield "Suggestions.accept", lambda: suggestions.accept(*named, given.recipe_ids[0])
    yield "Suggestions.feedback", lambda: suggestions.feedback(*named, 4)
    yield "Cooking.start", lambda: cooking.start(MAI, THEIRS)
    yield "Cooking.start", lambda: cooking.start(MAI, OWN)
    begun = [cooking.start(MAI, OWN) for _ in range(2)]
    first, second = ((MAI, each.created_at, each.history_id) for each in begun)
    yield "Cooking.complete", lambda: cooking.complete(*first, personal_rating=5)
    yield "Cooking.favorite", lambda: cooking.favorite(*first)
    yield "Cooking.unfavorite", lambda: cooking.unfavorite(*first)
    yield "Cooking.cancel", lambda: cooking.cancel(*second)


def of_recipes(db: Any) -> Iterator[ServiceCall]:
    recipes, ratings = Recipes(db), Ratings(db)
    yield "Recipes.write", lambda: recipes.write(MAI, RecipeDraft(**TEXT, ingredients=LINES))
    yield "Recipes.write", lambda: recipes.write(MAI, RecipeDraft(**TEXT, ingredients=LINES), is_public=True)
    yield "Recipes.view", lambda: recipes.view(MAI, OWN)
    yield "Viewing.recipe", lambda: Viewing(db).recipe(THEIRS, MAI)
    yield "Recipes.edit", lambda: recipes.edit(MAI, OWN, RecipeText(**TEXT))
    yield "Recipes.edit", lambda: recipes.edit(MAI, PRIVATE, RecipeText(**TEXT))
    yield "Recipes.replace_ingredients", lambda: recipes.replace_ingredients(MAI, OWN, LINES)
    yield "Recipes.reorder", lambda: recipes.reorder(MAI, OWN, [2, 1])
    yield "Recipes.publish", lambda: recipes.publish(MAI, PRIVATE)
    yield "Recipes.unpublish", lambda: recipes.unpublish(MAI, PRIVATE)
    yield "Ratings.rate", lambda: ratings.rate(LAN, THEIRS, 4)
    yield "Ratings.rate", lambda: ratings.rate(LAN, THEIRS, 5, comment="Better")
    yield "Ratings.unrate", lambda: ratings.unrate(LAN, THEIRS)
    yield "Recipes.delete", lambda: recipes.delete(MAI, recipe("r000024"))


def of_society(db: Any) -> Iterator[ServiceCall]:
    feeds, posts, reactions, friends = Feeds(db), Posts(db), Reactions(db), Friends(db)
    notices = Notifications(db)
    yield "Feeds.personal", lambda: feeds.personal(MAI)
    yield "Feeds.public", lambda: feeds.public()
    yield "Feeds.public", lambda: feeds.public(viewer=AN)
    yield "Viewing.post", lambda: Viewing(db).post(POST, AN)
    yield "Posts.write", lambda: posts.write(MAI, "Phở!")
    yield "Posts.write", lambda: posts.write(MAI, "Phở!", recipe_id=OWN)
    yield "Posts.edit", lambda: posts.edit(MAI, POST, content="Bún!")
    yield "Posts.make_public", lambda: posts.make_public(MAI, HIDDEN)
    yield "Posts.make_private", lambda: posts.make_private(MAI, HIDDEN)
    yield "Posts.comment", lambda: posts.comment(AN, POST, "Ngon")
    said = next(iter(db.comments(POST).all()))
    own = next(each for each in db.comments_of(MAI).all() if each.post_id == POST)
    yield "Posts.reply", lambda: posts.reply(MAI, said, "Cảm ơn")
    yield "Posts.edit_comment", lambda: posts.edit_comment(MAI, own, "Rất ngon")
    yield "Reactions.react", lambda: reactions.react(LAN, POST, "love")
    yield "Reactions.react", lambda: reactions.react(LAN, POST, "like")
    yield "Reactions.unreact", lambda: reactions.unreact(LAN, POST)
    yield "Reactions.react_to_comment", lambda: reactions.react_to_comment(LAN, said)
    yield "Reactions.unreact_to_comment", lambda: reactions.unreact_to_comment(LAN, said)
    yield "Posts.delete_comment", lambda: posts.delete_comment(MAI, own)
    yield "Friends.ask", lambda: friends.ask(MAI, DUC)
    yield "Friends.accept", lambda: friends.accept(DUC, MAI)
    yield "Friends.unfriend", lambda: friends.unfriend(MAI, DUC)
    friends.ask(MAI, LAN)
    yield "Friends.decline", lambda: friends.decline(LAN, MAI)
    told = next(iter(db.unread(MAI).all()))
    yield "Notifications.mark_read", lambda: notices.mark_read(MAI, told)
    yield "Notifications.unread_count", lambda: notices.unread_count(MAI)
    yield "Notifications.mark_all_read", lambda: notices.mark_all_read(MAI)
    yield "Posts.delete", lambda: posts.delete(MAI, POST)


def of_admins(db: Any) -> Iterator[ServiceCall]:
    reports, catalogue, recipes = Reports(db), Catalogue(db), Recipes(db)
    yield "Reports.report", lambda: reports.report(MAI, "kryptonite")
    yield "Reports.report", lambda: reports.report(AN, "kryptonite")
    made = catalogue.add("Măng tây", "vegetable", aliases=["asparagus"])
    name = made.ingredient_id
    yield "Catalogue.add", lambda: catalogue.add("Nấm rơm", "vegetable", aliases=["straw mushroom"])
    yield "Catalogue.rename", lambda: catalogue.rename(name, "Măng tây xanh")
    yield "Catalogue.add_alias", lambda: catalogue.add_alias(name, "green asparagus")
    yield "Catalogue.remove_alias", lambda: catalogue.remove_alias(name, "asparagus")
    yield "Catalogue.deactivate", lambda: catalogue.deactivate(name)
    yield "Catalogue.activate", lambda: catalogue.activate(name)
    recipes.publish(MAI, PRIVATE)
    yield "Recipes.approve", lambda: recipes.approve(MINH, PRIVATE)
    yield "Recipes.unapprove", lambda: recipes.unapprove(MINH, PRIVATE)
    yield "Reports.note", lambda: reports.note(MINH, "kryptonite", "Not food")
    yield "Reports.reject", lambda: reports.reject(MINH, "kryptonite")
    yield "Reports.resolve", lambda: reports.resolve(MINH, "Sốt bí mật số 0")
    yield "Trending.refresh", lambda: Trending(db).refresh()


def recipe(name: str) -> Any:
    return name
